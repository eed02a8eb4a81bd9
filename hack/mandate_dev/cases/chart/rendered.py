"""The chart's rendering: the server accepts it, invalid values are rejected, and helm and rbacgen generate the same
objects."""
import base64
import json
import os
import re
from typing import Any

from mandate_dev.cases.chart.chart_world import BARE, CHART, ChartCase, RELEASE
from mandate_dev.world import BASE, NAMESPACE

RENDERED = {
    "the defaults": {"image": "example.com/m:1"},
    "everything": {"image": "example.com/m:1", "killSwitch": "true", "createServiceAccounts": "true",
                   "flowSchemas": "true", "auditPolicy": "true", "metrics.enabled": "true",
                   "externalGrants": "scopetemplate", "deployment.priorityClassName": "system-cluster-critical",
                   "deployment.extraArgs": '["--guard=warn"]', "deployment.podLabels": '{"a": "b"}',
                   "deployment.nodeSelector": '{"a": "b"}', "imagePullSecrets": '[{"name": "pull"}]',
                   "deployment.extraVolumes": '[{"name": "leaf", "secret": {"secretName": "leaf"}}]',
                   "deployment.extraVolumeMounts": '[{"name": "leaf", "mountPath": "/run/leaf", "readOnly": true}]'},
    "one component": {"image": "example.com/m:1", "controllers": '["scope-template"]'},
    "impersonate": {"image": "example.com/m:1", "identityMode": "impersonate"},
    "impersonate, classic": {"image": "example.com/m:1", "identityMode": "impersonate", "impersonation": "classic"},
    "webhooks": {"image": "example.com/m:1", "webhooks.enabled": "true"},
    "webhooks with a certificate of others": {"image": "example.com/m:1", "webhooks.enabled": "true",
                                              "webhooks.certificateSecret": "tls",
                                              "deployment.extraVolumes": '[{"name": "leaf", "emptyDir": {}}]'},
    "some namespaces": {"image": "example.com/m:1", "watchNamespaces": '["default", "kube-public"]'},
    "single": {"image": "example.com/m:1", "identityMode": "single"},
    "grants alone": BARE,
}
REFUSED: dict[str, tuple[dict[str, str], str]] = {
    "no image": ({}, "image: name the manager's image, or set deployment.enabled=false"),
    "an unknown controller": ({**BARE, "controllers": '["*", "-frob"]'},
                              'controllers: "frob" is not one of '),
    "nothing to run": ({**BARE, "controllers": '["-scope-instance"]'}, "controllers: no component is enabled"),
    "an unknown mode": ({**BARE, "identityMode": "root"}, "identityMode"),
    "an empty list of controllers": ({**BARE, "controllers": "[]"}, "controllers"),
    "an unknown component to cut off": ({**BARE, "cutOff": '["scope"]'},
                                        "cutOff: \"scope\" is not one of metrics-auth, scope-instance, scope-template, scope-webhook, webhook-certificates"),
    "all components cut off": ({**BARE, "cutOff": '["scope-instance", "scope-template"]'},
                               "cutOff: every enabled component is cut off"),
    "a kill switch without tokens": ({**BARE, "killSwitch": "true", "identityMode": "single"},
                                     "killSwitch: identityMode single has no tokens to bind"),
    "one port for two": ({"image": "example.com/m:1", "metrics.enabled": "true", "metrics.port": "8081"},
                         "metrics.port: 8081 is deployment.healthPort too"),
    "a label that the selector has": ({"image": "example.com/m:1", "deployment.podLabels": '{"app.kubernetes.io/name": "b"}'},
                                      "deployment.podLabels: app.kubernetes.io/name is what the Deployment finds its pods by"),
    "a label that is a number": ({"image": "example.com/m:1", "deployment.podLabels": '{"a": 1}'}, "podLabels"),
    "lines in a name": ({"image": "example.com/m:1", "deployment.priorityClassName": "a\nhostNetwork: true"},
                        "priorityClassName"),
    "a namespace twice": ({**BARE, "watchNamespaces": '["shop", "shop"]'}, "watchNamespaces"),
    "no name of a namespace": ({**BARE, "watchNamespaces": '["Shop"]'}, "watchNamespaces"),
    "an unknown value": ({**BARE, "controler": '["*"]'}, "controler"),
}


class Rendered(ChartCase):
    """The rendered chart, and helm's objects."""

    def test_the_chart_renders(self) -> None:
        """Lint passes; with all values the server accepts the rendered objects without a warning."""
        world = self.world
        self.step("helm lint")
        done = world.try_helm("lint", CHART, "--strict", values={"image": "example.com/m:1"})
        self.expect("no errors and no warnings", done.returncode == 0 and "[WARNING]" not in done.stdout,
                    done.stdout + done.stderr)
        self.step("helm template | kubectl apply --dry-run=server")
        for name, values in RENDERED.items():
            text = world.helm("template", RELEASE, CHART, values=values)
            # The installed release owns its fields, so kubectl must force the apply. This is not a fault of the chart.
            done = world.cluster.try_kubectl("apply", "--dry-run=server", "-f", "-", "--server-side", "--force-conflicts", stdin=text)
            applied = len(done.stdout.splitlines())
            self.expect(f"{name}: {applied} objects", done.returncode == 0 and not done.stderr
                        and applied == len(re.findall(r"^kind: ", text, re.M)), done.stdout + done.stderr)
            empty = re.findall(r"^ *- --[\w-]+=$", text, re.M)
            self.expect(f"{name}: each of the manager's flags has a value", not empty, empty)
            if "image" in values:
                # One component that is not ready must not make the others' webhooks unreachable.
                ready = re.findall(r"path: (/readyz\S*)$", text, re.M)
                wanted = "/readyz/webhooks" if "webhooks.enabled" in values else "/readyz"
                self.expect(f"{name}: the pods' readiness is {wanted}", ready == [wanted], ready)
                # A kubelet gives a Secret's files to root, and to the group of fsGroup.
                groups = re.findall(r"^ +(?:runAsGroup|fsGroup): (\d+)", text, re.M)
                self.expect(f"{name}: the manager may read files of Secrets", len(groups) == 2 and len(set(groups)) == 1, groups)
        self.step("mistakes in the values")
        for name, (values, says) in REFUSED.items():
            done = world.try_helm("template", RELEASE, CHART, values=values)
            self.expect(f"{name}: {says}", done.returncode != 0 and says in done.stderr, done.stdout + done.stderr)

        # These are not valid names of a namespace. YAML would read others as null, a boolean or a number.
        for namespace in ("a\" || true || \"b", "a\n  b: c", "A", "a.b"):
            done = world.try_helm("template", RELEASE, CHART, values=BARE, namespace=namespace)
            self.expect(f"the namespace {namespace!r}", done.returncode != 0 and "namespace" in done.stderr, done.stdout + done.stderr)
        for namespace in ("null", "true", "123", "0777", "1e3"):
            text = world.try_helm("template", RELEASE, CHART, values={"image": "example.com/m:1"}, namespace=namespace).stdout
            found = set(re.findall(r"^ +(?:namespace: |- --namespace=|- \"--namespace=)(.*)$", text, re.M))
            self.expect(f"the namespace {namespace} is a text", found == {f'"{namespace}"', f'{namespace}"'}, found)

    def test_the_cluster_is_asked_first(self) -> None:
        """A release that cannot work in this cluster is rejected before any object is created."""
        world = self.world
        self.step("a Kubernetes without ValidatingAdmissionPolicies")
        done = world.try_helm("template", RELEASE, CHART, "--kube-version=v1.29.9", values=BARE)
        self.expect("rejected", done.returncode != 0 and "requires kubeVersion: >=1.30.0-0" in done.stderr, done.stderr)
        world.helm("template", RELEASE, CHART, "--kube-version=v1.30.0", values=BARE)
        self.held("1.30 is enough")
        self.step("a second release")
        before = world.ours()
        for namespace in (NAMESPACE, "default"):
            done = world.try_helm("install", "second", CHART, values=BARE, namespace=namespace)
            self.expect(f"rejected in {namespace}, as the first release has the objects", done.returncode != 0
                        and "exists and cannot be imported into the current release" in done.stderr and RELEASE in done.stderr, done.stderr)
        self.expect("the first is as it was", world.ours() == before, world.ours())

    def test_helm_makes_what_rbacgen_makes(self) -> None:
        """The chart's objects are those of the plain manifests."""
        world = self.world
        self.step("both, in each mode")

        def listed(text: str) -> Any:
            made = world.kubectl("create", "--dry-run=client", "-o", "json", "-f", "-", stdin=text)
            # The output is a sequence of JSON documents.
            objects, decoder, rest = {}, json.JSONDecoder(), made.strip()
            while rest:
                one, end = decoder.raw_decode(rest)
                rest = rest[end:].lstrip()
                for thing in one.get("items", [one]):
                    meta = thing["metadata"]
                    meta["labels"].pop("app.kubernetes.io/managed-by", None)
                    meta.setdefault("namespace", NAMESPACE)
                    # The policy inside the object differs in its quotes.
                    if "policy.yaml" in thing.get("data", {}):
                        thing["data"]["policy.yaml"] = re.sub("['\"]", "", thing["data"]["policy.yaml"])
                    objects[thing["kind"], meta["namespace"], meta["name"]] = thing
            return objects

        some = ["--watch-namespaces=default,kube-public",
                "--cluster-scoped=scopeinstances.operators.coreos.com,scopetemplates.operators.coreos.com"]
        modes: dict[str, list[str]] = {"token": ["--kill-switch"], "impersonate": [], "single": some}
        for mode, switches in modes.items():
            theirs = listed(world.helm("template", RELEASE, CHART, values={
                **BARE, "identityMode": mode, "killSwitch": "true" if mode == "token" else "false", "flowSchemas": "true",
                "watchNamespaces": '["default", "kube-public"]' if switches == some else "[]",
                "auditPolicy": "true", "metrics.enabled": "true", "webhooks.enabled": "true"}))
            # The Secret that the component fills; the plain manifests do not have it.
            theirs = {key: thing for key, thing in theirs.items() if key[2] != f"{BASE}-webhook-certificate"}
            world.identity_mode = mode
            ours = listed(world.chart(*switches, "--flow-schemas", "--audit-policy", "--with=metrics.enabled,webhooks.enabled"))
            world.identity_mode = "token"
            differing = [key for key in {**ours, **theirs} if ours.get(key) != theirs.get(key)]
            self.expect(f"{mode}: {len(ours)} objects, the same", not differing, differing)

    def test_an_upgrade_keeps_the_certificates(self) -> None:
        """The data of the webhooks' Secret, and each caBundle, are the component's: helm leaves them alone."""
        world = self.world
        world.upgrade(**{"webhooks.enabled": "true"})
        configuration, secret = f"{BASE}-scope-webhook-validating", f"{BASE}-webhook-certificate"
        with open(world.cluster.ca_file, "rb") as f:
            bundle = base64.b64encode(f.read()).decode()
        world.kubectl("patch", "secret", secret, "-n", NAMESPACE, "-p", json.dumps({"data": {"ca.crt": bundle}}))
        names = [w["name"] for w in world.get("validatingwebhookconfiguration", configuration)["webhooks"]]
        world.kubectl("patch", "validatingwebhookconfiguration", configuration, "-p", json.dumps(
            {"webhooks": [{"name": name, "clientConfig": {"caBundle": bundle}} for name in names]}))
        world.upgrade(**{"webhooks.enabled": "true", "flowSchemas": "true"})
        kept = world.get("secret", secret, "-n", NAMESPACE).get("data", {}).get("ca.crt")
        self.expect("the Secret's data", kept == bundle, kept)
        kept = [w["clientConfig"].get("caBundle") for w in world.get("validatingwebhookconfiguration", configuration)["webhooks"]]
        self.expect("each caBundle", kept == [bundle] * len(names), kept)
        world.upgrade()

    def test_definitions_are_upgraded(self) -> None:
        """helm installs the CRDs once and never changes them; the command in docs/chart.md updates them."""
        world = self.world
        self.step("a field that the chart's CRD has, and the installed one lacks")
        name = "scopeinstances.operators.coreos.com"
        crd = world.get("crd", name)
        schema = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
        field = sorted(schema)[0]
        world.kubectl("patch", "crd", name, "--type=json", "-p", json.dumps(
            [{"op": "remove", "path": f"/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/{field}"}]))

        def has_it() -> bool:
            now = world.get("crd", name)["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
            return field in now
        world.upgrade()
        self.expect("helm upgrade omits it", not has_it(), "it is there")
        world.kubectl("apply", "--server-side", "--force-conflicts", "-f", os.path.join(CHART, "crds"))
        self.expect("kubectl apply brings it back", has_it(), "it is not there")
