"""Installing the webhooks of a world."""
import json
import os
import tempfile
import unittest
from typing import Any

from mandate_dev import webhooks
from mandate_dev.report import Report
from mandate_dev.world import World


class FakeWorld(World):
    """Records the calls of kubectl. It has one configuration."""

    def __init__(self, folder: str) -> None:
        super().__init__(folder, Report())
        self.calls: list[tuple[str, ...]] = []
        self.applied: list[str | None] = []
        self.client: dict[str, Any] = {"service": {"name": "s", "path": "/convert-a"}}

    def chart(self, *flags: str) -> str:
        return "the chart"

    def kubectl(self, *arguments: str, stdin: str | None = None, check: bool = True) -> str:
        self.calls.append(arguments)
        if arguments[0] == "apply":
            self.applied.append(stdin)
        if arguments[:2] == ("get", "crds"):
            converted = {"metadata": {"name": "a.example.com"}, "spec": {"conversion": {
                "strategy": "Webhook", "webhook": {"clientConfig": self.client, "conversionReviewVersions": ["v1"]}}}}
            return json.dumps({"items": [{"metadata": {}}, *(
                {"metadata": {"annotations": {webhooks.APPLIED: json.dumps(applied)}}}
                for applied in ({"metadata": {"name": "b.example.com"}, "spec": {}}, converted))]})
        if arguments[:2] == ("get", "secret") and "jsonpath" in arguments[-1]:
            return "Q0E="
        if arguments[:2] == ("get", webhooks.KINDS):
            return json.dumps({"items": [{
                "kind": "ValidatingWebhookConfiguration", "metadata": {"name": "c", "resourceVersion": "7"},
                "webhooks": [{"clientConfig": {"service": {"path": path}}} for path in ("/a", "/b")]}]})
        return ""

    def calls_of(self, verb: str) -> list[tuple[str, ...]]:
        return [call for call in self.calls if call[0] == verb]


class Install(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.world = FakeWorld(os.path.join(folder.name, "w"))
        webhooks.install(self.world, 9443)

    def test_the_configurations_are_made_anew(self) -> None:
        verbs = [call[0] for call in self.world.calls]
        self.assertEqual(self.world.calls_of("delete"), [("delete", webhooks.KINDS, "-l", "app.kubernetes.io/part-of=mandate")])
        self.assertLess(verbs.index("delete"), verbs.index("apply"))

    def test_the_names_have_the_base_name(self) -> None:
        self.world.base = "shop-operator"
        self.assertEqual(webhooks.ours(self.world), "app.kubernetes.io/part-of=shop-operator")
        self.world.calls.clear()
        webhooks.install(self.world, 9443)
        self.assertEqual([call[3] for call in self.world.calls_of("create")], ["shop-operator-webhook-certificate"])

    def test_each_webhook_gets_a_url_and_nothing_else_is_written(self) -> None:
        self.assertEqual(self.world.calls_of("replace"), [])  # it would keep what was read, such as the resourceVersion
        [call] = self.world.calls_of("patch")
        self.assertEqual(call[1:4], ("ValidatingWebhookConfiguration", "c", "--type=json"))
        patch: list[dict[str, Any]] = json.loads(call[4].removeprefix("--patch="))
        self.assertEqual(patch, [{"op": "replace", "path": f"/webhooks/{i}/clientConfig",
                                  "value": {"url": f"https://127.0.0.1:9443/{path}"}} for i, path in enumerate("ab")])

    def test_the_definitions_with_a_conversion_get_a_url(self) -> None:
        [_, applied] = self.world.applied
        definition = json.loads(applied or "")
        self.assertEqual(definition["metadata"]["name"], "a.example.com")
        self.assertEqual(definition["spec"]["conversion"]["webhook"], {
            "clientConfig": {"url": "https://127.0.0.1:9443/convert-a"}, "conversionReviewVersions": ["v1"]})

    def test_a_second_installation_keeps_the_path(self) -> None:
        self.world.client = {"url": "https://127.0.0.1:9443/convert-a"}
        webhooks.install(self.world, 9444)
        self.assertIn("https://127.0.0.1:9444/convert-a", self.world.applied[-1] or "")

    def test_the_authority_is_written_to_the_definitions_with_a_conversion(self) -> None:
        webhooks.trust_conversions(self.world)
        call = self.world.calls_of("patch")[-1]
        self.assertEqual(call[1:4], ("crd", "a.example.com", "--type=merge"))
        self.assertEqual(json.loads(call[4].removeprefix("--patch=")),
                         {"spec": {"conversion": {"webhook": {"clientConfig": {"caBundle": "Q0E="}}}}})
