"""The checks of hack/e2e/run. Each except the last restores the cluster's state."""
import json
import os
import re
import subprocess
import time
from typing import Any

from mandate_dev.cases import WorldCase
from mandate_dev.controlplane.components import new_port
from mandate_dev.world import BASE, LOADED, NAMESPACE, PATIENCE, World

INSTANCE = "scope-instance"
TEMPLATE = "scope-template"


def template(name: str = "e2e") -> dict[str, Any]:
    return {"apiVersion": "operators.coreos.com/v1alpha1", "kind": "ScopeTemplate", "metadata": {"name": name},
            "spec": {"clusterRoles": [{
                "generateName": f"{name}-", "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}],
                "subjects": [{"kind": "User", "name": "ann"}]}]}}


def instance(namespaces: Any, name: str = "e2e", of: str = "e2e") -> dict[str, Any]:
    return {"apiVersion": "operators.coreos.com/v1alpha1", "kind": "ScopeInstance", "metadata": {"name": name},
            "spec": {"scopeTemplateName": of, "namespaces": namespaces}}


def apply(world: World, *objects: Any) -> Any:
    return world.kubectl("apply", "-f", "-", stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)}))


def condition(world: World, kind: str, name: str, wanted: Any) -> Any:
    found = world.get(kind, name).get("status", {}).get("conditions", [])
    return next((c for c in found if c["type"] == wanted), {})


def scoped(world: World, status: str, name: str = "e2e") -> None:
    def look() -> tuple[Any, Any]:
        seen = condition(world, "scopeinstance", name, "Scoped")
        return seen.get("status") == status, seen
    world.eventually(f"scopeinstance {name} is Scoped={status}", look)


def audit_events(world: World, offset: int = 0) -> tuple[Any, Any]:
    """Returns the audit log's events from byte `offset` on, and the log's current length."""
    with open(world.audit_log, "rb") as f:
        f.seek(offset)
        data = f.read()
    whole = data[:data.rfind(b"\n") + 1]
    return [json.loads(line) for line in whole.splitlines()], offset + len(whole)


def ours(events: Any) -> list[Any]:
    return [e for e in events if e.get("userAgent", "").startswith("mandate-manager/")]


def falls_silent(case: WorldCase, seconds: float) -> None:
    """Waits for this number of seconds without requests other than watches, leases and tokens."""
    world = case.world
    deadline = time.monotonic() + PATIENCE + seconds
    _, offset = audit_events(world)
    since = time.monotonic()
    loud: list[Any] = []
    while time.monotonic() < since + seconds:
        if time.monotonic() > deadline:
            raise case.failed(f"{seconds} seconds of silence", loud)
        time.sleep(1)
        events, offset = audit_events(world, offset)
        asked = [(e["verb"], e["objectRef"].get("resource"), e["user"]["username"]) for e in ours(events)
                 if e["verb"] != "watch" and e["objectRef"].get("resource") != "leases"
                 and e["objectRef"].get("subresource") != "token"]
        if asked:
            since, loud = time.monotonic(), asked
    case.held(f"{seconds} seconds without a request but watches, leases and tokens")


class EndToEnd(WorldCase):
    """Tests the manager as a whole. The last case leaves a thousand namespaces."""

    def test_bind_taken_and_returned(self) -> None:
        """Without `bind`, scope-instance's condition reports it and scope-template works; with it, scope-instance converges by itself."""
        world = self.world
        role = f"{BASE}-{INSTANCE}"
        self.step("the bind rule is taken out of scope-instance's role")
        before = world.get("clusterrole", role)
        # The same rule may have other verbs, such as list and watch.
        rules = [{**r, "verbs": [v for v in r["verbs"] if v != "bind"]} for r in before["rules"]]
        self.expect("the role had one", rules != before["rules"], before["rules"])
        world.kubectl("patch", "clusterrole", role, "--type=merge", "-p", json.dumps({"rules": rules}))
        apply(world, template(), instance(["default"]))

        def named() -> tuple[Any, Any]:
            seen = condition(world, "scopeinstance", "e2e", "Scoped")
            return seen.get("status") == "False" and "\"bind\"" in seen.get("message", ""), seen
        world.eventually("the condition names the missing verb", named)
        world.eventually("scope-template works", lambda: (
            condition(world, "scopetemplate", "e2e", "Templated").get("status") == "True", "not Templated"))
        self.step("the rule is put back")
        world.kubectl("patch", "clusterrole", role, "--type=merge", "-p", json.dumps({"rules": before["rules"]}))
        scoped(world, "True")
        world.kubectl("delete", "scopeinstance/e2e", "scopetemplate/e2e")

    def test_a_service_account_is_missing(self) -> None:
        """A component without its ServiceAccount is NotReady and prints the manifest to apply; the other component works."""
        world = self.world
        account = f"{BASE}-{INSTANCE}"
        self.step("the manager starts while scope-instance's ServiceAccount is missing")
        manifest = world.kubectl("get", "serviceaccount", account, "-n", NAMESPACE, "-o", "json")
        world.stop_manager()
        world.kubectl("delete", "serviceaccount", account, "-n", NAMESPACE)
        world.start_manager()

        def says() -> tuple[Any, Any]:
            code, text = world.readyz()
            return code == 500 and account in text and "kind: ServiceAccount" in text, text
        world.eventually("/readyz names the ServiceAccount and prints its manifest", says)
        apply(world, template(), instance(["default"]))
        world.eventually("scope-template works", lambda: (
            condition(world, "scopetemplate", "e2e", "Templated").get("status") == "True", "not Templated"))
        self.step("the ServiceAccount is created")
        account_object = json.loads(manifest)
        account_object["metadata"] = {k: v for k, v in account_object["metadata"].items()
                                      if k in ("name", "namespace", "labels")}
        apply(world, account_object)
        scoped(world, "True")
        world.await_ready()
        world.kubectl("delete", "scopeinstance/e2e", "scopetemplate/e2e")

    def test_a_crd_is_absent(self) -> None:
        """The manager waits for a kind that the server does not serve yet."""
        world = self.world
        self.step("the manager starts without the ScopeInstance CRD")
        crd = "scopeinstances.operators.coreos.com"
        manifest = os.path.join(world.root, "charts/mandate/crds", "operators.coreos.com_scopeinstances.yaml")
        world.stop_manager()
        world.kubectl("delete", "crd", crd)
        world.start_manager()

        def says() -> tuple[Any, Any]:
            code, text = world.readyz()
            return code == 500 and "scopeinstances" in text, text
        world.eventually("/readyz reports it", says)
        self.step("the CRD is applied")
        world.kubectl("apply", "-f", manifest)
        world.await_ready()
        apply(world, template(), instance(["default"]))
        scoped(world, "True")
        world.kubectl("delete", "scopeinstance/e2e", "scopetemplate/e2e")

    def test_service_accounts_are_created_on_request(self) -> None:
        """--create-service-accounts, with the Role that the chart grants for it, makes a missing ServiceAccount."""
        world = self.world
        account = f"{BASE}-{INSTANCE}"
        self.step("the chart's extra Role, a missing ServiceAccount, and the flag")
        world.stop_manager()
        world.kubectl("apply", "-f", "-", stdin=world.chart("--create-service-accounts"))
        world.kubectl("delete", "serviceaccount", account, "-n", NAMESPACE)
        world.start_manager("--create-service-accounts", "-v=1")
        world.await_ready()
        world.eventually("the ServiceAccount is there", lambda: (
            account in world.kubectl("get", "serviceaccounts", "-n", NAMESPACE, "-o", "name"), "it is not"))

    def test_a_standby_takes_over(self) -> None:
        """A second manager is ready and waits; after the first is killed it works as soon as the Lease expires."""
        world = self.world
        self.step("a second manager")
        taken = [world.health_port, world.metrics_port]
        second_port = new_port(taken)
        standby = world.spawn_manager(second_port, new_port([*taken, second_port]), "-v=1")
        try:
            world.eventually("it is ready", lambda: world.is_ready(second_port))
            holder = world.get("lease", BASE, "-n", NAMESPACE)["spec"]["holderIdentity"]
            self.step("the first is killed")
            world.abandon_manager()
            start = time.monotonic()
            apply(world, template(), instance(["default"]))
            scoped(world, "True")
            took = time.monotonic() - start
            self.expect(f"after {took:.0f} s: 15 s of lease, 5 s of retries, and the machine's load",
                        took < 20 + LOADED, f"{took:.0f} s")
            now = world.get("lease", BASE, "-n", NAMESPACE)["spec"]
            self.expect("the Lease is the second's", now["holderIdentity"] not in ("", holder), now)
            self.step("the Lease is deleted")
            world.kubectl("delete", "lease", BASE, "-n", NAMESPACE)
            world.eventually("it is the second's again", lambda: (
                world.kubectl("get", "lease", BASE, "-n", NAMESPACE, "-o", "jsonpath={.spec.holderIdentity}", check=False)
                == now["holderIdentity"], "it is not"))
            self.expect("which runs", standby.poll() is None, standby.poll())
            world.kubectl("delete", "scopeinstance/e2e", "scopetemplate/e2e")
        finally:
            standby.terminate()
            standby.wait(timeout=PATIENCE)
        world.start_manager()
        world.await_ready()

    def test_leadership_is_lost(self) -> None:
        """When another holder takes the Lease, the manager ends at once, with exit 1."""
        world = self.world
        self.step("the Lease gets another holder")
        world.kubectl("patch", "lease", BASE, "-n", NAMESPACE, "--type=merge",
                      "-p", json.dumps({"spec": {"holderIdentity": "somebody-else"}}))
        code = world.await_manager_end()
        self.expect("exit 1", code == 1, f"exit {code}")
        with open(world.manager_log, encoding="utf-8", errors="replace") as f:
            last = f.readlines()[-1].strip()
        self.expect("its last line has the reason", last.startswith("mandate-manager: leader election lost"), last)
        world.kubectl("patch", "lease", BASE, "-n", NAMESPACE, "--type=merge", "-p", '{"spec": {"holderIdentity": ""}}')
        world.start_manager()
        world.await_ready()

    def test_a_graceful_end(self) -> None:
        """SIGTERM ends the manager with exit 0 and releases the Lease; the next manager takes over at once."""
        world = self.world
        self.step("SIGTERM")
        start = time.monotonic()
        code = world.stop_manager()
        self.expect("exit 0", code == 0, f"exit {code}")
        self.expect("within its 30 seconds", time.monotonic() - start < 30, f"{time.monotonic() - start:.0f} s")
        lease = world.get("lease", BASE, "-n", NAMESPACE)
        self.expect("the lease is released", not lease["spec"].get("holderIdentity"), lease["spec"])
        world.start_manager()
        world.await_ready()

    def test_wrong_usage(self) -> None:
        """A wrong flag, controller, cluster or namespace gives one clear line and exit code 2."""
        world = self.world
        self.step("wrong command lines")
        kubeconfig = f"--kubeconfig={world.manager_kubeconfig}"
        nobody = os.path.join(world.folder, "nobody.kubeconfig")
        with open(world.manager_kubeconfig, encoding="utf-8") as f:
            config = json.load(f)
        config["clusters"][0]["cluster"]["server"] = "https://127.0.0.1:1"
        world.write_private(nobody, json.dumps(config))
        for arguments, says in [
                (["--no-such-flag"], "no-such-flag"),
                ([kubeconfig, "--controllers=nonsense"], "nonsense"),
                ([kubeconfig, "--identity-mode=root"], "root"),
                (["--kubeconfig=/nonexistent/kubeconfig"], "/nonexistent/kubeconfig"),
                ([f"--kubeconfig={nobody}", f"--namespace={NAMESPACE}"], "127.0.0.1:1"),
                ([kubeconfig, f"--namespace=x{NAMESPACE}"], f"use --namespace={NAMESPACE}"),
        ]:
            done = subprocess.run([world.manager_program, *arguments, "--health-address=0", "--metrics-address=0"],
                                  text=True, capture_output=True, timeout=PATIENCE)
            lines = [line for line in done.stderr.strip().splitlines() if " INFO " not in line]
            self.expect(f"{arguments[-1] if len(arguments) < 3 else arguments[1]}: exit 2, one line with the reason",
                        done.returncode == 2 and len(lines) == 1 and says in lines[0], (done.returncode, done.stderr))

    def test_no_token_in_any_log(self) -> None:
        """At the highest verbosity, no token reaches the log."""
        world = self.world
        self.step("the manager at -v=5")
        world.stop_manager()
        world.start_manager("-v=5")
        world.await_ready()
        apply(world, template(), instance(["default"]))
        scoped(world, "True")
        world.kubectl("delete", "scopeinstance/e2e", "scopetemplate/e2e")
        with open(world.manager_log, encoding="utf-8", errors="replace") as f:
            log = f.read()
        # Every JWT starts with the base64 of '{"'.
        leaked = re.findall(r"eyJ[A-Za-z0-9_-]{10,}", log)
        self.expect("no JWT in the log", not leaked, f"{len(leaked)} of them")
        with open(world.token_file, encoding="utf-8") as f:
            self.expect("base's token is not in the log", f.read().strip() not in log, "it is")

    def test_a_thousand_namespaces(self) -> None:
        """A namespace that is added to a thousand causes one write; after that there are no requests."""
        world = self.world
        names = [f"many-{i:04}" for i in range(1000)]
        self.step("1,000 namespaces and an instance for them all")
        for start in range(0, len(names), 250):
            apply(world, *[{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": n}}
                           for n in names[start:start + 250]])
        world.kubectl("create", "namespace", "one-more")
        apply(world, template(), instance(names))

        def bound() -> tuple[Any, Any]:
            seen = world.get("rolebindings", "-A")["items"]
            count = sum(1 for b in seen if b["metadata"]["name"].startswith("e2e-"))
            return count == 1000, f"{count} RoleBindings"
        world.eventually("1,000 RoleBindings", bound, patience=900)
        scoped(world, "True")

        self.step("one more")
        _, offset = audit_events(world)
        world.kubectl("patch", "scopeinstance", "e2e", "--type=merge",
                      "-p", json.dumps({"spec": {"namespaces": names + ["one-more"]}}))
        world.eventually("its RoleBinding", lambda: (
            bool(world.get("rolebindings", "-n", "one-more")["items"]), "no RoleBinding"))
        world.eventually("its generation is reported", lambda: (
            condition(world, "scopeinstance", "e2e", "Scoped").get("observedGeneration")
            == world.get("scopeinstance", "e2e")["metadata"]["generation"], "an older one"))

        self.step("nothing to do")
        falls_silent(self, 60)
        events, _ = audit_events(world, offset)
        writes = [(e["verb"], e["objectRef"].get("resource"), e["objectRef"].get("namespace")) for e in ours(events)
                  if e["objectRef"].get("resource") in ("rolebindings", "clusterrolebindings", "clusterroles")
                  and e["verb"] not in ("list", "watch", "get")]
        self.expect("exactly one RoleBinding was written", writes == [("patch", "rolebindings", "one-more")], writes)
        world.kubectl("delete", "scopeinstance/e2e", "scopetemplate/e2e")
