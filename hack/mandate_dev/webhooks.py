"""Serves the webhooks of a world: by URL on loopback, with certificates of their own."""
import base64
import json
from typing import Any
from urllib.parse import urlsplit

from mandate_dev.controlplane.components import new_port
from mandate_dev.world import BASE, NAMESPACE, World

COMPONENT = "scope-webhook"
CERTIFICATES = "webhook-certificates"
CONFIGURATION = f"{BASE}-{COMPONENT}-validating"
KINDS = "validatingwebhookconfigurations,mutatingwebhookconfigurations"
APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
NOT_HELD = "attempting to grant RBAC permissions not currently held"


def ours(world: World) -> str:
    """The label of the chart's objects."""
    return f"app.kubernetes.io/part-of={world.base.removesuffix('-manager')}"


def secret_of(world: World) -> str:
    """The Secret that the component webhook-certificates fills."""
    return f"{world.base}-webhook-certificate"


def install(world: World, port: int) -> None:
    """Installs the webhooks' identities and an empty Secret, and their configuration by URL, also of conversions."""
    # An object has either a URL or the chart's service. So `kubectl apply` of the chart cannot change a configuration
    # that an earlier call has given a URL.
    uninstall(world)
    enabled = ",".join(filter(None, [world.enabled, "webhooks.enabled"]))
    world.kubectl("apply", "-f", "-", stdin=world.chart(f"--with={enabled}"))
    secret = secret_of(world)
    if not world.kubectl("get", "secret", secret, "-n", NAMESPACE, "--ignore-not-found", "-o", "name"):
        world.kubectl("create", "secret", "generic", secret, "-n", NAMESPACE)
    for configuration in configurations(world):
        patch = [{"op": "replace", "path": f"/webhooks/{i}/clientConfig",
                  "value": {"url": f"https://127.0.0.1:{port}{webhook['clientConfig']['service']['path']}"}}
                 for i, webhook in enumerate(configuration["webhooks"])]
        world.kubectl("patch", configuration["kind"], configuration["metadata"]["name"], "--type=json",
                      f"--patch={json.dumps(patch)}")
    for definition in conversions(world):
        # Applied, and not patched: another apply then replaces the URL, and keeps caBundle.
        webhook = definition["spec"]["conversion"]["webhook"]
        client = webhook["clientConfig"]
        path = urlsplit(client["url"]).path if "url" in client else client["service"]["path"]
        webhook["clientConfig"] = {"url": f"https://127.0.0.1:{port}{path}"}
        world.kubectl("apply", "-f", "-", stdin=json.dumps(definition))


def uninstall(world: World) -> None:
    """Removes their configurations, so that the API server does not call webhooks that nobody serves."""
    world.kubectl("delete", KINDS, "-l", ours(world))


def configurations(world: World) -> list[Any]:
    """The configurations of our components."""
    found: list[Any] = world.get(KINDS, "-l", ours(world))["items"]
    return found


def conversions(world: World) -> list[Any]:
    """The definitions, as they were applied, whose versions a webhook converts."""
    found = [json.loads(definition["metadata"].get("annotations", {}).get(APPLIED, "{}"))
             for definition in world.get("crds")["items"]]
    return [definition for definition in found
            if definition.get("spec", {}).get("conversion", {}).get("strategy") == "Webhook"]


def trust_conversions(world: World) -> None:
    """Waits for the webhooks' authority, and writes it to the definitions: no component of the manager does that."""
    definitions = conversions(world)
    if not definitions:
        return
    authority = ""

    def made() -> tuple[bool, str]:
        nonlocal authority
        authority = world.kubectl("get", "secret", secret_of(world), "-n", NAMESPACE, "-o", r"jsonpath={.data.ca\.crt}")
        return bool(authority), f"Secret {secret_of(world)} without ca.crt"
    world.eventually("the webhooks have an authority", made)
    patch = json.dumps({"spec": {"conversion": {"webhook": {"clientConfig": {"caBundle": authority}}}}})
    for definition in definitions:
        world.kubectl("patch", "crd", definition["metadata"]["name"], "--type=merge", f"--patch={patch}")


def bundles(world: World) -> list[str]:
    """The certificates by which the API server verifies each webhook, in PEM."""
    return [base64.b64decode(w["clientConfig"].get("caBundle", "")).decode()
            for configuration in configurations(world) for w in configuration["webhooks"]]


def serve(world: World, *flags: str) -> int:
    """Restarts the manager with its webhooks, and waits until the API server trusts them. Returns their port."""
    port = new_port([world.health_port, world.metrics_port])
    install(world, port)
    world.stop_manager()
    world.start_manager(f"--webhook-bind-address=127.0.0.1:{port}", "-v=1", *flags)
    world.await_ready()

    def trusted() -> tuple[bool, list[str]]:
        found = bundles(world)
        return all(found), found
    world.eventually("the API server trusts the webhooks' authority", trusted)
    trust_conversions(world)
    return port
