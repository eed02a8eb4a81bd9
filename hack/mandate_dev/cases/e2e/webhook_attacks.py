"""The ways around scope-webhook that attackers try."""
import json
from collections.abc import Iterator
from typing import Any

from mandate_dev.cases import WorldCase
from mandate_dev.cases.e2e.checks import apply, instance, scoped
from mandate_dev.cases.e2e.scope_checks import generated
from mandate_dev.cases.e2e.webhook_checks import OBJECTS, PODS, SECRETS, end, with_rules
from mandate_dev.webhooks import CONFIGURATION, NOT_HELD, serve
from mandate_dev.world import NAMESPACE

CLUSTER_SCOPE = "at the cluster scope"
ANN = {"kind": "User", "name": "ann", "apiGroup": "rbac.authorization.k8s.io"}
ANONYMOUS = {"kind": "User", "name": "system:anonymous", "apiGroup": "rbac.authorization.k8s.io"}
# A user who has rights only as a member of groups: one may write our objects, and one edits a namespace.
WRITES = ("--as=e2e-eve", "--as-group=e2e-writers", "--as-user-extra=scopes=e2e")
EVE = (*WRITES, "--as-group=e2e-editors")


def template(*roles: Any, name: str, subjects: Any = None) -> Any:
    made = with_rules(name=name)
    made["spec"] = {"clusterRoles": list(roles), "bindingTemplate": {"subjects": subjects or [ANN]}}
    return made


def role(generate_name: str = "e2e-x-", **more: Any) -> Any:
    return {"generateName": generate_name, "rules": [PODS], **more}


def selecting(selector: Any) -> Any:
    made = instance([], "e2e-x", "e2e-pods")
    made["spec"]["namespaceSelector"] = selector
    return made


def anonymous_somewhere() -> Iterator[tuple[str, Any]]:
    """Templates with a subject that nobody may have, in each of the three places."""
    yield "a role's subjects", template(role(subjects=[ANONYMOUS]), name="e2e-x")
    yield "a role's bindingTemplate", template(role(bindingTemplate={"subjects": [ANONYMOUS]}), name="e2e-x")
    yield "the template's bindingTemplate", template(role(), name="e2e-x", subjects=[ANONYMOUS])


class WebhookAttacks(WorldCase):
    """Ways around the admission webhooks of the scope objects."""

    def setUp(self) -> None:
        super().setUp()
        world = self.world
        self.addCleanup(end, world)
        serve(world)
        world.kubectl("create", "clusterrole", "e2e-writers", "--verb=create,get,patch,delete", f"--resource={OBJECTS}")
        world.kubectl("create", "clusterrolebinding", "e2e-writers", "--clusterrole=e2e-writers", "--group=e2e-writers")
        world.kubectl("create", "rolebinding", "e2e-editors", "-n", "default", "--clusterrole=edit", "--group=e2e-editors")
        apply(world, with_rules(PODS, name="e2e-pods"))

    def tearDown(self) -> None:
        world = self.world
        world.kubectl("delete", "scopeinstances,scopetemplates", "--all")
        world.kubectl("delete", "clusterrole/e2e-writers", "clusterrolebinding/e2e-writers")
        world.kubectl("delete", "rolebinding/e2e-editors", "-n", "default")
        world.eventually("no generated role is left", lambda: (not (found := generated(world, "clusterroles")), found))

    def _create(self, made: Any, words: str, who: tuple[str, ...]) -> tuple[bool, str]:
        """Creates the object in a dry run. Returns whether it is denied with these words or, without words, allowed; and
        the output."""
        # kubectl's own validation would not send a selector that is too deep.
        done = self.world.cluster.try_kubectl("create", "--dry-run=server", "--validate=false", "-f", "-", *who,
                                              stdin=json.dumps(made))
        said = done.stdout + done.stderr
        return words in said and (done.returncode != 0) == bool(words), said

    def _try(self, what: str, made: Any, words: str = "", who: tuple[str, ...] = EVE) -> None:
        self.expect(f"{'denied' if words else 'allowed'}: {what}", *self._create(made, words, who))

    def test_the_webhook_has_no_way_around(self) -> None:
        """Selectors, orders of writes, names, subjects, sizes and impersonation give nobody more than they hold."""
        world = self.world
        self.step("the configuration")
        for webhook in world.get("validatingwebhookconfiguration", CONFIGURATION)["webhooks"]:
            verbs = [(rule["operations"], rule["scope"]) for rule in webhook["rules"]]
            self.expect(f"{webhook['name']} sees each creation and each update", webhook["failurePolicy"] == "Fail"
                        and webhook["matchPolicy"] == "Equivalent" and not webhook["objectSelector"]
                        and not webhook["namespaceSelector"] and not webhook.get("matchConditions")
                        and verbs == [(["CREATE", "UPDATE"], "*")], webhook)
        self._the_author()
        self._selectors()
        self._orders()
        self._names()
        self._subjects_and_targets()
        self._sizes()

    def _the_author(self) -> None:
        self.step("rights that the author has as a member of a group, by kubectl --as")
        world = self.world
        world.eventually("the group has its rights", lambda: (
            world.cluster.try_kubectl("auth", "can-i", "get", "pods", "-n", "default", *EVE).returncode == 0, "not yet"))
        here = instance(["default"], "e2e-x", "e2e-pods")
        self._try("an instance in the group's namespace", here)
        self._try("the same without the group", here, NOT_HELD, WRITES)
        self._try("the same with another group", here, NOT_HELD, (*WRITES, "--as-group=e2e-others"))
        self._try("an instance in another namespace", instance(["kube-public"], "e2e-x", "e2e-pods"), NOT_HELD)

    def _selectors(self) -> None:
        self.step("selectors, which may match every namespace")
        excludes = {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": ["kube-public"]}
        for selector in ({}, {"matchLabels": None}, {"matchLabels": {}}, {"matchExpressions": [excludes]},
                         {"matchExpressions": [{"key": "e2e", "operator": "DoesNotExist"}]}):
            self._try(json.dumps(selector), selecting(selector), CLUSTER_SCOPE)
        made = selecting({"matchLabels": None})
        made["spec"]["namespaces"] = ["default"]
        self._try("matchLabels null and the group's namespace", made, CLUSTER_SCOPE)

    def _orders(self) -> None:
        self.step("the instance before its template, and a template that is created again")
        world = self.world
        apply(world, instance(["kube-public"], "e2e-early", "e2e-late"))
        self._try("an instance of a template that does not exist", instance(["default"], "e2e-x", "e2e-later"), NOT_HELD)
        self._try("a template that an instance waits for", with_rules(PODS, name="e2e-late"), "in the namespace \"kube-public\"")
        apply(world, with_rules(PODS, name="e2e-late"))
        scoped(world, "True", "e2e-early")
        more = template(role("e2e-late-", rules=[SECRETS]), name="e2e-late")
        done = world.cluster.try_kubectl("patch", "scopetemplate", "e2e-late", "--type=merge", "-p", json.dumps(more), *EVE)
        self.expect("denied: a new rule", done.returncode != 0 and NOT_HELD in done.stderr, done.stdout + done.stderr)
        done = world.cluster.try_kubectl("delete", "scopetemplate", "e2e-late", *EVE)
        self.expect("deleting it is allowed", done.returncode == 0, done.stderr)
        self._try("the same name with other rules", with_rules(SECRETS, name="e2e-late"), NOT_HELD)
        self._try("the same name with the same rules", with_rules(PODS, name="e2e-late"), NOT_HELD)
        self._try("the same name without rules, which somebody may add later", with_rules(name="e2e-late"), NOT_HELD)

    def _names(self) -> None:
        self.step("names of roles that belong to others")
        world = self.world
        apply(world, template(role("e2e-first"), name="e2e-first"), instance(["default"], "e2e-first", "e2e-first"))
        scoped(world, "True", "e2e-first")
        first = generated(world, "clusterroles")[0]["metadata"]["name"]
        world.kubectl("delete", "scopeinstance", "e2e-first")
        world.eventually("the role is gone", lambda: (not generated(world, "clusterroles"), "it is there"))
        # A tenant can compute this name as well.
        apply(world, template(role(first.removeprefix("scope-template:")), name="e2e-spelt"),
              instance(["default"], "e2e-spelt", "e2e-spelt"))
        scoped(world, "True", "e2e-spelt")
        names = [r["metadata"]["name"] for r in generated(world, "clusterroles")]
        self.expect("a template that spells the name of another's role gets another one", first not in names, names)
        apply(world, instance(["default"], "e2e-first", "e2e-first"))
        scoped(world, "True", "e2e-first")
        generating = with_rules(SECRETS)
        generating["metadata"] = {"generateName": "e2e-"}
        self._try("an object whose name the server generates", generating, NOT_HELD)

    def _subjects_and_targets(self) -> None:
        self.step("subjects and targets that no user may choose")
        for place, made in anonymous_somewhere():
            self._try(f"anonymous requests in {place}", made, "requests without a credential", ())
        account = {"kind": "ServiceAccount", "name": "mandate-manager", "namespace": NAMESPACE}
        self._try("the manager's ServiceAccount", template(role(subjects=[account]), name="e2e-x"), "of the manager's namespace", ())
        for ns in (NAMESPACE, "kube-system"):
            self._try(f"the target {ns}", instance([ns], "e2e-x", "e2e-pods"), "cannot be a target", ())

    def _sizes(self) -> None:
        self.step("large objects")
        many = instance([f"e2e-{i}" for i in range(10000)], "e2e-x", "e2e-pods")
        self._try("an instance in 10,000 namespaces", many, "more than 1000 access reviews")
        rules = [dict(PODS, resources=[f"r{i}"]) for i in range(1000)]
        self._try("a template with 1,000 rules", with_rules(*rules, name="e2e-x"), "more than 1000 access reviews")
        words = [f"w{i}" for i in range(100)]
        million = {"verbs": words, "apiGroups": words, "resources": words}
        self._try("a template with one rule of a million rights", with_rules(million, name="e2e-x"), "more than 1000 access reviews")
        deep = selecting({})
        place = deep["spec"]["namespaceSelector"]
        for _ in range(600):
            place["a"] = {}
            place = place["a"]
        self._try("a selector that is 600 deep", deep, "is invalid")
        self._try("an administrator's instance in 10,000 namespaces", many, who=())
