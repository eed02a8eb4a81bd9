"""Templates that many instances use: how many access reviews, and how much time, a write of one needs."""
import json
import time
from typing import Any

from mandate_dev.cases import WorldCase
from mandate_dev.cases.e2e.checks import apply, audit_events, instance
from mandate_dev.cases.e2e.webhook_checks import OBJECTS, PODS, end, with_rules
from mandate_dev.webhooks import COMPONENT, serve
from mandate_dev.world import BASE

INSTANCES = 600
# A user with the only right of the template's role, in the whole cluster.
EVE = ("--as=e2e-eve", "--as-group=e2e-many")
TOO_MANY = "checking it needs more than 1000 access reviews"
ANOTHER_SUBJECT = {"bindingTemplate": {"subjects": [{"kind": "User", "name": "bob", "apiGroup": "rbac.authorization.k8s.io"}]}}


class ManyInstances(WorldCase):
    """Templates that 600 instances use."""

    def setUp(self) -> None:
        super().setUp()
        world = self.world
        self.addCleanup(end, world)
        serve(world)
        for name, verbs, resources in (("e2e-many", "get,patch", OBJECTS), ("e2e-many-pods", "get", "pods")):
            world.kubectl("create", "clusterrole", name, f"--verb={verbs}", f"--resource={resources}")
            world.kubectl("create", "clusterrolebinding", name, f"--clusterrole={name}", "--group=e2e-many")

    def tearDown(self) -> None:
        world = self.world
        world.kubectl("delete", "scopeinstances,scopetemplates", "--all", "--wait=false")
        world.eventually("the objects are gone", lambda: (
            not (left := world.kubectl("get", OBJECTS, "-o", "name").split()), len(left)))
        world.kubectl("delete", "clusterroles,clusterrolebindings", "e2e-many", "e2e-many-pods")

    def _reviews(self, offset: int) -> int:
        events, _ = audit_events(self.world, offset)
        return sum(1 for e in events if e["stage"] == "ResponseComplete" and e["user"]["username"].endswith(f":{BASE}-{COMPONENT}")
                   and e["objectRef"].get("resource") == "subjectaccessreviews")

    def _try(self, name: str, change: Any, who: tuple[str, ...] = ()) -> tuple[bool, str]:
        """Changes the template in a dry run. Returns whether it is allowed, and the output."""
        done = self.world.cluster.try_kubectl("patch", "scopetemplate", name, "--dry-run=server", "--type=merge", "-p",
                                              json.dumps(change), *who)
        return done.returncode == 0, done.stdout + done.stderr

    def _patch(self, what: str, name: str, change: Any, reviews: int, words: str, who: tuple[str, ...] = ()) -> None:
        """Tries the change, which must need this number of reviews. words: of the denial, or of the warning."""
        world = self.world
        _, offset = audit_events(world)
        since = time.monotonic()
        allowed, said = self._try(name, change, who)
        took = time.monotonic() - since
        world.eventually(f"{what}: {reviews} access reviews", lambda: ((n := self._reviews(offset)) == reviews, (n, said)))
        self.expect(f"{what}: {took:.2f} s, with kubectl", words in said and allowed != (words == TOO_MANY), said)

    def test_reviews_of_a_template_with_600_instances_are_bounded(self) -> None:
        """However many instances use a template, its author needs two reviews for each namespace of theirs, at most 1,000."""
        world = self.world
        for namespaces in (3, 400, INSTANCES):
            self.step(f"{INSTANCES} instances, in {namespaces} namespaces")
            name = f"e2e-many-{namespaces}"
            apply(world, with_rules(PODS, name=name))
            instances = [instance([f"e2e-{i % namespaces}"], f"{name}-{i}", name) for i in range(INSTANCES)]
            world.kubectl("create", "-f", "-", stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": instances}))
            warning = f"({INSTANCES} in all)"
            world.eventually("the webhook knows them", lambda: (
                warning in (said := self._try(name, {"spec": ANOTHER_SUBJECT})[1]), said))
            self._patch("an administrator's new subject", name, {"spec": ANOTHER_SUBJECT}, 2, warning)
            self._patch("a label", name, {"metadata": {"labels": {"a": "b"}}}, 0, "patched", EVE)
            # `escalate` and `bind`; for the role, and for its binding in each namespace: the shortcut, and the right.
            many = 2 + 2 * (1 + namespaces)
            if namespaces == INSTANCES:
                self._patch("another author's", name, {"spec": ANOTHER_SUBJECT}, 2, TOO_MANY, EVE)
            else:
                self._patch("another author's", name, {"spec": ANOTHER_SUBJECT}, many, warning, EVE)
