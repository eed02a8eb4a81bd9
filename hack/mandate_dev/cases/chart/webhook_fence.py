"""The writes of webhook-certificates: its fences let it change only caBundle of the webhook configurations, and only the data of its Secret."""
import base64
import copy
import json
from collections.abc import Callable
from typing import Any

from mandate_dev.cases.chart.chart_world import ChartCase
from mandate_dev.controlplane.components import new_port
from mandate_dev.world import BASE, NAMESPACE

COMPONENT, CONFIGURATION = "webhook-certificates", f"{BASE}-scope-webhook-validating"
WHO = f"{BASE}-{COMPONENT}"
PATH = f"/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/{CONFIGURATION}"
DENIED = "may only change the fields webhooks[*].clientConfig.caBundle"

Change = Callable[[Any], object]


def append(configuration: Any) -> None:
    configuration["webhooks"].append({
        "name": "evil.example.com", "clientConfig": {"url": "https://evil.example.com"}, "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        "rules": [{"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*/*"]}]})


def redirect(configuration: Any) -> None:
    client = configuration["webhooks"][0]["clientConfig"]
    del client["service"]
    client["url"] = "https://evil.example.com"


def twice(configuration: Any) -> None:
    webhooks = configuration["webhooks"]
    webhooks[1] = {**webhooks[0], "name": webhooks[1]["name"]}


def first(**fields: Any) -> Change:
    """Sets fields of the first webhook."""
    return lambda configuration: configuration["webhooks"][0].update(fields)


def service(**fields: Any) -> Change:
    return lambda configuration: configuration["webhooks"][0]["clientConfig"]["service"].update(fields)


def metadata(**fields: Any) -> Change:
    return lambda configuration: configuration["metadata"].update(fields)


LABELS = {"matchLabels": {"a": "b"}}
# Owners are not here, because OwnerReferencesPermissionEnforcement denies their change before the fence does.
STOPPED: dict[str, Change] = {
    "an appended webhook": append,
    "a removed webhook": lambda configuration: configuration["webhooks"].pop(),
    "no webhooks": lambda configuration: configuration.pop("webhooks"),
    "another order": lambda configuration: configuration["webhooks"].reverse(),
    "the first webhook twice": twice,
    "another name": first(name="evil.example.com"),
    "other rules": lambda configuration: configuration["webhooks"][0]["rules"][0].update(resources=["*"]),
    "one rule more": lambda configuration: configuration["webhooks"][0]["rules"].append(configuration["webhooks"][1]["rules"][0]),
    "a url": redirect,
    "another service": service(name="evil"),
    "a service of another namespace": service(namespace="default"),
    "another path": service(path="/evil"),
    "another port": service(port=8443),
    "another failurePolicy": first(failurePolicy="Ignore"),
    "another matchPolicy": first(matchPolicy="Exact"),
    "another namespaceSelector": first(namespaceSelector=LABELS),
    "another objectSelector": first(objectSelector=LABELS),
    "a match condition": first(matchConditions=[{"name": "never", "expression": "false"}]),
    "another timeout": first(timeoutSeconds=1),
    "other side effects": first(sideEffects="NoneOnDryRun"),
    "labels": metadata(labels={"a": "b"}),
    "annotations": metadata(annotations={"cert-manager.io/inject-ca-from": "evil/evil"}),
    "finalizers": metadata(finalizers=["a.io/x"]),
}

SECRET = f"{BASE}-webhook-certificate"
SECRET_PATH = f"/api/v1/namespaces/{NAMESPACE}/secrets/{SECRET}"
SECRET_DENIED = "may only change the fields data"
SECRET_STOPPED: dict[str, Change] = {
    "immutable": lambda secret: secret.update(immutable=True),
    "immutable, without a certificate": lambda secret: (secret["data"].pop("tls.crt"), secret.update(immutable=True)),
    "finalizers": metadata(finalizers=["a.io/x"]),
    "labels": metadata(labels={"a": "b"}),
    "annotations": metadata(annotations={"a": "b"}),
}


class WebhookFence(ChartCase):
    """Tests the fence of webhook-certificates write by write."""

    def test_fence_of_webhook_configurations(self) -> None:
        """With the token of webhook-certificates, only the caBundle of our webhook configurations can be changed."""
        world = self.world
        if world.manager_is_running():
            world.stop_manager()
        world.upgrade(**{"webhooks.enabled": "true"})
        with open(world.cluster.ca_file, "rb") as f:
            bundle = base64.b64encode(f.read()).decode()
        was = world.get("validatingwebhookconfiguration", CONFIGURATION)
        for webhook in was["webhooks"][1:]:
            webhook["clientConfig"]["caBundle"] = bundle
        world.kubectl("replace", "-f", "-", stdin=json.dumps(was))

        def write(change: Change, trust: bool) -> tuple[int, str]:
            configuration = copy.deepcopy(world.get("validatingwebhookconfiguration", CONFIGURATION))
            if trust:
                configuration["webhooks"][0]["clientConfig"]["caBundle"] = bundle
            change(configuration)
            return world.as_component(WHO, "replace", "--raw", f"{PATH}?dryRun=All", "-f", "-", stdin=json.dumps(configuration))

        self.step("the policy is in effect, and has no mistakes")
        policy = world.fence(COMPONENT, "validatingwebhookconfigurations")

        def checked() -> tuple[Any, Any]:
            status = world.get("validatingadmissionpolicy", policy)["status"]
            return "typeChecking" in status, status
        world.eventually("the server has checked its types", checked)
        status = world.get("validatingadmissionpolicy", policy)["status"]
        self.expect("no warnings", not status["typeChecking"].get("expressionWarnings"), status)
        world.eventually("an appended webhook is denied", lambda: (DENIED in (said := write(append, False)[1]), said))
        self.step("writes that pass")
        for name, change in {
                "no change": lambda configuration: None,
                "caBundle of one webhook": lambda configuration: configuration["webhooks"][0]["clientConfig"].update(caBundle=bundle),
                "no caBundle": lambda configuration: [w["clientConfig"].pop("caBundle", None) for w in configuration["webhooks"]],
        }.items():
            code, said = write(change, False)
            self.expect(name, code == 0, said)
        self.step("writes that RBAC allows and the API server denies")
        for name, change in STOPPED.items():
            for trust in (False, True):
                code, said = write(change, trust)
                self.expect(f"{name}{', with another caBundle' if trust else ''}", code != 0 and DENIED in said, said)
        self.step("the same by another user")
        world.kubectl("patch", "validatingwebhookconfiguration", CONFIGURATION, "--dry-run=server", "--type=json", "-p",
                      json.dumps([{"op": "remove", "path": "/webhooks/0"}]))
        self.held("passes")
        world.upgrade()
        world.restart_manager()

    def test_fence_of_the_certificates_secret(self) -> None:
        """With the token of webhook-certificates, only the data of its Secret can be changed: it cannot end the rotation."""
        world = self.world
        if world.manager_is_running():
            world.stop_manager()
        world.upgrade(**{"webhooks.enabled": "true"})
        world.kubectl("patch", "secret", SECRET, "-n", NAMESPACE, "-p", json.dumps({"data": {"tls.crt": "eA=="}}))

        def write(change: Change) -> tuple[int, str]:
            secret = copy.deepcopy(world.get("secret", SECRET, "-n", NAMESPACE))
            change(secret)
            return world.as_component(WHO, "replace", "--raw", f"{SECRET_PATH}?dryRun=All", "-f", "-", stdin=json.dumps(secret))

        world.eventually("an immutable Secret is denied",
                         lambda: (SECRET_DENIED in (said := write(SECRET_STOPPED["immutable"])[1]), said))
        status = world.get("validatingadmissionpolicy", world.fence(COMPONENT, "secrets"))["status"]
        self.expect("no warnings", not status.get("typeChecking", {}).get("expressionWarnings"), status)
        for name, change in {
                "no change": lambda secret: None,
                "other data": lambda secret: secret["data"].update({"tls.crt": "eQ==", "tls.key": "eQ=="}),
                "no data": lambda secret: secret.pop("data"),
        }.items():
            code, said = write(change)
            self.expect(name, code == 0, said)
        for name, change in SECRET_STOPPED.items():
            code, said = write(change)
            self.expect(name, code != 0 and SECRET_DENIED in said, said)
        world.upgrade()
        world.restart_manager()

    def test_fence_of_webhook_configurations_lets_the_component_work(self) -> None:
        """The component writes caBundle under its fence; it reports foreign entries, and removes foreign keys of its Secret."""
        world = self.world
        world.upgrade(**{"webhooks.enabled": "true"})
        foreign = world.get("validatingwebhookconfiguration", CONFIGURATION)
        append(foreign)
        # It must match nothing, because it never answers.
        foreign["webhooks"][-1].update(failurePolicy="Ignore", objectSelector={"matchLabels": {"evil.example.com": "never"}})
        world.kubectl("replace", "-f", "-", stdin=json.dumps(foreign))
        port = new_port([world.health_port, world.metrics_port])
        world.restart_manager(f"--webhook-bind-address=127.0.0.1:{port}")

        def written() -> tuple[Any, Any]:
            bundles = [w["clientConfig"].get("caBundle", "") for w in
                       world.get("validatingwebhookconfiguration", CONFIGURATION)["webhooks"]]
            return all(bundles[:-1]) and bundles[0] == bundles[1] and not bundles[-1], bundles
        world.eventually("our entries have the component's authority, and the other one has none", written)
        with open(world.manager_log, encoding="utf-8") as f:
            reports = [line for line in f if "an entry that no marker declares" in line]
        self.expect("the other entry is reported once", len(reports) == 1 and CONFIGURATION in reports[0]
                    and "webhook=evil.example.com" in reports[0], reports)
        self.step("a foreign key in the Secret")
        world.kubectl("patch", "secret", SECRET, "-n", NAMESPACE, "-p", json.dumps({"data": {"loot": "eA=="}}))
        ours = {"ca.crt", "ca.key", "tls.crt", "tls.key"}
        world.eventually("the component removes it", lambda: (
            set(data := world.get("secret", SECRET, "-n", NAMESPACE)["data"]) == ours, sorted(data)))
        world.stop_manager()
        world.upgrade()
        world.restart_manager()
