"""Webhooks that are slow, hang or throw, beside quick ones; conversions; and a manager that is down.

They are served by //hack/e2e/webhooks, a manager whose webhooks behave so.
"""
import base64
import json
import os
import re
import shutil
import subprocess
import time
import urllib.request
from typing import Any

from mandate_dev import bazel
from mandate_dev.cases import WorldCase
from mandate_dev.cases.e2e.checks import apply
from mandate_dev.cases.e2e.load import Load
from mandate_dev.controlplane.components import new_port
from mandate_dev.processes import die_with_parent
from mandate_dev.world import PATIENCE

NAME = "e2e-hooks"
CONFIG_MAPS = f"/api/v1/namespaces/{NAME}/configmaps"
REVIEWS = 10  # of each object that thousand_reviews creates


def config_map(kind: str, name: str = "a", **data: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": NAME, "labels": {"hooks": kind}},
            "data": data}


def parcel(version: str, name: str, **spec: Any) -> dict[str, Any]:
    return {"apiVersion": f"webhooks.example.com/{version}", "kind": "Parcel",
            "metadata": {"name": name, "namespace": NAME, "labels": {"kept": "yes"}}, "spec": spec}


class Handlers(WorldCase):
    """Webhooks that behave badly."""

    def setUp(self) -> None:
        super().setUp()
        world = self.world
        self.files = os.path.join(world.folder, NAME)
        os.makedirs(self.files, mode=0o700, exist_ok=True)
        self.addCleanup(shutil.rmtree, self.files)
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1",
                        "-subj", "/CN=e2e", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", os.path.join(self.files, "tls.key"),
                        "-out", os.path.join(self.files, "tls.crt")], check=True, capture_output=True)
        bazel.build("//hack/e2e/webhooks")
        self.port = new_port([world.health_port, world.metrics_port])
        self._log_path = os.path.join(self.files, "log")
        self._start()
        self.addCleanup(self._kill)
        self.addCleanup(world.kubectl, "delete", f"validatingwebhookconfiguration/{NAME}", f"mutatingwebhookconfiguration/{NAME}",
                        f"namespace/{NAME}", "--ignore-not-found")
        world.kubectl("create", "namespace", NAME)

    def _start(self) -> None:
        program = os.path.join(bazel.info()["bazel-bin"], "hack/e2e/webhooks/webhooks")
        with open(self._log_path, "wb") as log:
            self.process = subprocess.Popen([program, self.world.manager_kubeconfig, f"127.0.0.1:{self.port}", self.files],
                                            stdout=log, stderr=log, preexec_fn=die_with_parent())
        self.world.eventually("the webhooks are served", lambda: ("Serving webhooks" in self.log(), self.log()))

    def _kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def log(self) -> str:
        with open(self._log_path, encoding="utf-8") as log:
            return log.read()

    def client(self, path: str) -> dict[str, str]:
        with open(os.path.join(self.files, "tls.crt"), "rb") as file:
            return {"url": f"https://127.0.0.1:{self.port}{path}", "caBundle": base64.b64encode(file.read()).decode()}

    def webhook(self, kind: str, path: str, number: int = 0, **more: Any) -> dict[str, Any]:
        """One for new ConfigMaps with the label hooks=kind."""
        rules = [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}]
        return {"name": f"{kind}-{number}.example.com", "clientConfig": self.client(path), "rules": rules, "sideEffects": "None",
                "admissionReviewVersions": ["v1"], "failurePolicy": "Fail", "timeoutSeconds": 10,
                "objectSelector": {"matchLabels": {"hooks": kind}}, **more}

    def configure(self, *validating: Any, mutating: Any = ()) -> None:
        """Installs the webhooks, and waits until the API server calls the first one."""
        for kind, webhooks in (("Validating", validating), ("Mutating", mutating)):
            apply(self.world, {"apiVersion": "admissionregistration.k8s.io/v1", "kind": f"{kind}WebhookConfiguration",
                               "metadata": {"name": NAME}, "webhooks": list(webhooks)})
        self.world.eventually("the API server calls them", lambda: self.create(config_map("quick", deny="yes"), denied="deny"))

    def create(self, made: Any, denied: str = "", *flags: str) -> tuple[bool, str]:
        """Tries to create the object, dry. Returns (whether the answer is as expected, what kubectl said)."""
        done = self.world.cluster.try_kubectl("create", "--dry-run=server", "-o", "json", "-f", "-", *flags, stdin=json.dumps(made))
        as_expected = denied in done.stderr if denied else True
        return as_expected and (done.returncode != 0) == bool(denied), done.stderr + done.stdout

    def tries(self, what: str, made: Any, denied: str = "") -> str:
        as_expected, said = self.create(made, denied)
        self.expect(what, as_expected, said)
        return said

    def metrics(self) -> str:
        found = re.search(r"Serving metrics.* address=(\S+)", self.log())
        assert found, "no address of the metrics in the log"
        with urllib.request.urlopen(f"http://{found[1]}/metrics", timeout=60) as answer:
            text: str = answer.read().decode()
        return text

    def metric(self, name: str, *labels: str) -> float:
        return sum(float(line.rsplit(" ", 1)[1]) for line in self.metrics().splitlines()
                   if line.startswith(name + "{") and all(label in line for label in labels))

    def test_a_stuck_webhook_delays_no_other(self) -> None:
        """Handlers that hang, are slow or throw take nothing from the quick ones; the process ends with those that hang."""
        self.configure(self.webhook("quick", "/validate--v1-configmap"), self.webhook("slow", "/slow"),
                       self.webhook("hang", "/hang", timeoutSeconds=1), self.webhook("throw", "/throw"))
        loads = {kind: Load(self.world, threads, CONFIG_MAPS, lambda i, kind=kind: config_map(kind, f"{kind}-{i}"))  # type: ignore[misc]
                 for kind, threads in (("hang", 20), ("throw", 2), ("slow", 4), ("quick", 2))}
        with loads["hang"], loads["throw"], loads["slow"], loads["quick"]:
            time.sleep(10)
        for kind in ("quick", "slow"):
            self.expect(f"none of {loads[kind].count} {kind} requests failed", not loads[kind].failures and loads[kind].count > 20,
                        loads[kind].failures[:3])
        for kind, words in (("hang", "failed calling webhook"), ("throw", "denied the request: the webhook failed")):
            expected = [f for f in loads[kind].failures if words in f]
            self.expect(f"each of {loads[kind].count} requests to the handler that {kind}s was denied: {words}",
                        len(expected) == loads[kind].count > 0, loads[kind].failures[:3])
        self.expect("a review that got no answer in time is a 504",
                    self.metric("controller_runtime_webhook_requests_total", 'webhook="/hang"', 'code="504"') > 0, self.metrics())
        self.expect("an exception is counted", self.metric("controller_runtime_webhook_panics_total", 'webhook="/throw"') > 0,
                    self.metrics())
        self.process.terminate()
        code = self.process.wait(timeout=PATIENCE)
        # One user's reviews get half of the threads.
        self.expect("the process ends although handlers hang, and names their component", code == 1 and
                    "component hanging: 4 webhook handlers were still running" in self.log(), (code, self.log()[-500:]))

    def test_typed_webhooks_see_what_the_server_sends(self) -> None:
        """A validator, a defaulter, and a CONNECT."""
        proxy = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CONNECT"], "resources": ["services/proxy"]}
        space = {"matchLabels": {"kubernetes.io/metadata.name": NAME}}
        self.configure(self.webhook("quick", "/validate--v1-configmap"),
                       self.webhook("proxy", "/validate--v1-serviceproxyoptions", rules=[proxy], namespaceSelector=space,
                                    objectSelector={}),
                       mutating=[self.webhook("quick", "/mutate--v1-configmap")])
        said = self.tries("an object is admitted, with a default", config_map("quick", own="1"))
        self.expect("its own data stay", '"own": "1"' in said and '"defaulted": "yes"' in said, said)
        self.expect("the user sees the warning", "Warning: seen" in said, said)
        self.tries("an object is denied, with the handler's text", config_map("quick", deny="1"), "data: deny is not allowed")
        self.tries("other objects are not reviewed", config_map("other", deny="1"))
        apply(self.world, {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a", "namespace": NAME},
                           "spec": {"ports": [{"port": 1}]}})
        done = self.world.cluster.try_kubectl("get", "--raw", f"/api/v1/namespaces/{NAME}/services/a/proxy/secret")
        self.expect("a CONNECT is denied by its options", "no proxy to /secret" in done.stderr, done.stderr)

    def test_failure_policy_decides_while_the_manager_is_down(self) -> None:
        """Ignore admits, without the default; Fail denies. When the manager is back, both call it again."""
        self.configure(self.webhook("quick", "/validate--v1-configmap", failurePolicy="Ignore"),
                       self.webhook("fail", "/validate--v1-configmap", 1),
                       mutating=[self.webhook("quick", "/mutate--v1-configmap", failurePolicy="Ignore")])
        self._kill()
        said = self.tries("Ignore: what would be denied is admitted", config_map("quick", deny="1"))
        self.expect("and not defaulted", "defaulted" not in said, said)
        self.tries("Fail: nothing is admitted", config_map("fail"), "failed calling webhook")
        self._start()
        self.tries("it is back: what would be denied is denied", config_map("quick", deny="1"), "deny is not allowed")
        self.tries("and Fail admits", config_map("fail"))

    def test_conversion(self) -> None:
        """Objects of a kind with two versions are written, read, patched and listed in both."""
        world = self.world
        self.configure(self.webhook("quick", "/validate--v1-configmap"))
        text = world.run([world.rbacgen, "crd", "--proto-path=.", f"--proto-path={world.kubernetes_protos}", "--out=-",
                          "hack/e2e/webhooks/v1/parcel.proto", "hack/e2e/webhooks/v1beta1/parcel.proto"], stdout=subprocess.PIPE)
        crd = "crd/parcels.webhooks.example.com"
        self.addCleanup(world.kubectl, "delete", crd, "--ignore-not-found")
        world.kubectl("apply", "-f", "-", stdin=text)
        world.kubectl("patch", crd, "--type=merge", "-p", json.dumps({"spec": {"conversion": {"webhook": {
            "clientConfig": self.client("/convert")}}}}))
        world.kubectl("wait", "--for=condition=Established", crd, "--timeout=60s")

        def get(version: str, name: str) -> Any:
            return world.get(f"parcels.{version}.webhooks.example.com", name, "-n", NAME)
        world.eventually("an older version is written", lambda: self.create(parcel("v1beta1", "old", weight="3kg", to="x")))
        apply(world, parcel("v1beta1", "old", weight="3kg", to="x"), parcel("v1", "new", grams=70, to="y"))
        old = get("v1", "old")
        self.expect("and read as the newer one", old["spec"] == {"grams": 3000, "to": "x"} and
                    old["metadata"]["labels"] == {"kept": "yes"}, old)
        self.expect("the newer one is read as the older", get("v1beta1", "new")["spec"] == {"weight": "70g", "to": "y"},
                    get("v1beta1", "new"))
        world.kubectl("patch", "parcels.v1beta1.webhooks.example.com", "new", "-n", NAME, "--type=merge", "-p",
                      '{"spec":{"weight":"2kg"}}')
        self.expect("a patch of the older version arrives", get("v1", "new")["spec"] == {"grams": 2000, "to": "y"}, get("v1", "new"))
        listed = world.get("parcels.v1beta1.webhooks.example.com", "-n", NAME)["items"]
        self.expect("a list is converted", [p["spec"]["weight"] for p in listed] == ["2kg", "3kg"], listed)
        as_expected, said = self.create(parcel("v1beta1", "odd", weight="heavy"),
                                        "spec.weight: \"heavy\" must be a number of g or kg")
        self.expect("a failed conversion names its reason", as_expected, said)
        scale = [parcel("v1", f"many-{i}", grams=i, to="z") for i in range(500)]
        world.kubectl("create", "-f", "-", stdin="\n".join(json.dumps(p) + "\n---" for p in scale))
        listed = world.get("parcels.v1beta1.webhooks.example.com", "-n", NAME)["items"]
        self.expect("a list of 502 objects is converted", len(listed) == 502, len(listed))

    def test_thousand_reviews_a_second(self) -> None:
        """A thousand reviews a second from the API server; none fails. The time of ours is printed."""
        self.configure(*[self.webhook("quick", "/validate--v1-configmap", i) for i in range(REVIEWS)])
        seconds = float(os.environ.get("SECONDS", "10"))
        name, hook = "controller_runtime_webhook_latency_seconds", 'webhook="/validate--v1-configmap"'
        before = {le: self.metric(f"{name}_bucket", hook, f'le="{le}"') for le in ("0.005", "+Inf")}
        with Load(self.world, 8, CONFIG_MAPS, lambda i: config_map("quick", f"quick-{i}", text="x" * 2000), 1000 / REVIEWS) as load:
            time.sleep(seconds)
        count, quick = (self.metric(f"{name}_bucket", hook, f'le="{le}"') - before[le] for le in ("+Inf", "0.005"))
        self.expect(f"none of {load.count} requests failed, with {REVIEWS} reviews each", not load.failures and
                    count == load.count * REVIEWS, (load.failures[:3], count))
        self.held(f"{count / seconds:.0f} reviews a second; {100 * quick / count:.2f} % were answered within 5 ms")
