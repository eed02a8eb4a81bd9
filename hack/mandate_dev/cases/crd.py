"""Tests the output of rbacgen crd on a real API server: the definitions are accepted, structural and stable, and reject
the objects that they must reject.

usage: rbacgen/crd_cluster_test [--dir DIR] [--port N] [NAME…] [-k PATTERN]… [--list] [--junit FILE]

Starts a control plane of its own in DIR (default: a new temporary folder) and stops it. Each case counts its checks. The last line is `N passed, N failed`; the exit code is 0 only when nothing failed.
"""
import json
import os
from collections.abc import Iterable, Sequence
from typing import Any

from mandate_dev.cases import ClusterCase, cluster_main
from mandate_dev.paths import ROOT

CRDS = os.path.join(ROOT, "charts", "mandate", "crds")
# The whole vocabulary of options, as the unit test compares it.
WIDGETS = os.path.join(ROOT, "rbacgen", "emit", "crd", "testdata", "example.com_widgets.yaml")
GADGETS = os.path.join(ROOT, "rbacgen", "emit", "crd", "testdata", "example.com_gadgets.yaml")
GROUP = "operators.coreos.com/v1alpha1"


def scoped(kind: str, spec: Any, name: str = "foo") -> dict[str, Any]:
    return {"apiVersion": GROUP, "kind": kind, "metadata": {"name": name}, "spec": spec}


def instance(**spec: Any) -> Any:
    return scoped("ScopeInstance", {"scopeTemplateName": "foo", **spec})


def role(**changes: Any) -> dict[str, Any]:
    subjects = [{"kind": "ServiceAccount", "name": "foo-service-account", "namespace": "foo-operator"}]
    rule = {"apiGroups": [""], "resources": ["pods", "services"], "verbs": ["get", "list", "create", "watch"]}
    return {"generateName": "fooClusterRole-", "rules": [rule], "bindingTemplate": {"subjects": subjects}, **changes}


def template(*roles: Any, **spec: Any) -> Any:
    return scoped("ScopeTemplate", {"clusterRoles": list(roles), **spec})


def without(mapping: Any, *names: str) -> dict[str, Any]:
    return {k: v for k, v in mapping.items() if k not in names}


def condition(**changes: Any) -> dict[str, Any]:
    return {"type": "Scoped", "status": "True", "reason": "Bound", "message": "", "observedGeneration": 1,
            "lastTransitionTime": "2026-01-02T03:04:05Z", **changes}


def widget(**spec: Any) -> dict[str, Any]:
    spec = {"color": "red", "every": "1h", **spec}
    return {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w", "namespace": "default"},
            "spec": {k: v for k, v in spec.items() if v is not None}}


def gadget(**spec: Any) -> dict[str, Any]:
    spec = {"low": 2, **spec}
    return {"apiVersion": "example.com/v1", "kind": "Gadget", "metadata": {"name": "g"},
            "spec": {k: v for k, v in spec.items() if v is not None}}


def nested(depth: Any) -> Any:
    value: Any = "x"
    for _ in range(depth):
        value = {"a": value}
    return value


def embedded(**fields: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}, **fields}


ACCEPTED: dict[str, dict[str, Any]] = {
    "the document's template": template(role()),
    "the document's instance": instance(namespaces=["foo", "bar"], namespaceSelector={"fooKey": "barValue"}),
    "subjects next to the role": template(without(role(subjects=[{"kind": "Group", "name": "g"}]), "bindingTemplate")),
    "subjects for all roles": template(without(role(), "bindingTemplate"),
                                       bindingTemplate={"subjects": [{"kind": "User", "name": "u"}]}),
    "no roles yet": template(),
    "an empty list of namespaces": instance(namespaces=[]),
    "no namespaces": instance(),
    "a label selector": instance(namespaceSelector={
        "matchLabels": {"a": "b"}, "matchExpressions": [{"key": "c", "operator": "Exists"}]}),
    "an empty selector": instance(namespaceSelector={}),
    "a string for a string or a list": gadget(aliases="a"),
    "a list for a string or a list": gadget(aliases=["a", "b"]),
    "a widget": widget(port="80%", steps=5, limits={"cpu": "1500m", "memory": 3}, tags=["a", "b"], uid=None,
                       anything=[1, None, "x"], data="YQ==", selector={"matchLabels": {"a": "b"}}),
    "labels of a nested object": widget(lease={"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
                                               "metadata": {"labels": {"a": "b"}}}),
    "a gadget": gadget(email="a@b.c", amount="50%", slots=[{"name": "a", "holder": "b"}], numbers=[2, 4, 2],
                       notes={"a": "b"}),
    "a number for intOrString": gadget(amount=9),
    "a string for a type of its own": gadget(code="abc"),
    "none of atMostOneOf": gadget(),
    "a duration with every sort of unit": widget(every="-1h2m3.5s4ms5us6µs7ns"),
    "null, where it is nullable": {**widget(), "spec": {"color": "red", "every": "1h", "uid": None}},
    "an embedded object": widget(object=embedded(data={"a": "b"})),
}

# Objects that the server rejects, each with a part of the reason.
DENIED: dict[str, tuple[dict[str, Any], str]] = {
    "no spec": (without(instance(), "spec"), "spec: Required value"),
    "no scopeTemplateName": (scoped("ScopeInstance", {"namespaces": ["foo"]}),
                             "spec.scopeTemplateName: Required value"),
    "an empty scopeTemplateName": (instance(scopeTemplateName=""), "spec.scopeTemplateName"),
    "a scopeTemplateName that is too long": (instance(scopeTemplateName="a" * 254), "spec.scopeTemplateName"),
    "a namespace that is not a valid name": (instance(namespaces=["Bad_Name"]), "spec.namespaces[0]"),
    "an empty namespace": (instance(namespaces=[""]), "spec.namespaces[0]"),
    "a namespace that is too long": (instance(namespaces=["a" * 64]), "spec.namespaces[0]"),
    "namespaces as a string": (instance(namespaces="foo"), "spec.namespaces"),
    "a selector as a string": (instance(namespaceSelector="foo=bar"), "spec.namespaceSelector"),
    "a selector that nests": (instance(namespaceSelector={"a": {"b": {"c": "d"}}}), "spec.namespaceSelector.a.b"),
    "a selector that nests in a list": (instance(namespaceSelector={"a": [["b"]]}), "spec.namespaceSelector.a[0]"),
    "a selector whose expression nests": (instance(namespaceSelector={"matchExpressions": [
        {"key": "a", "operator": "In", "values": [["b"]]}]}), "matchExpressions[0].values[0]"),
    "a selector whose expression has another member": (instance(namespaceSelector={"matchExpressions": [
        {"key": "a", "operator": "In", "x": {"y": "z"}}]}), "matchExpressions[0].x"),
    "a selector with too many labels": (instance(namespaceSelector={f"k{n}": "v" for n in range(65)}),
                                        "spec.namespaceSelector"),
    "a selector 600 deep": (instance(namespaceSelector=nested(600)), "spec.namespaceSelector"),
    "an object for a string or a list": (gadget(aliases={"a": "b"}), "spec.aliases"),
    "an unknown field": (instance(nameSpaces=["foo"]), 'unknown field "spec.nameSpaces"'),
    "an empty generateName": (template(role(generateName="")), "generateName"),
    "no generateName": (template(without(role(), "generateName")), "generateName: Required value"),
    "a generateName that is not a path segment": (template(role(generateName="a/b")), "generateName"),
    "no rules": (template(without(role(), "rules")), "rules: Required value"),
    "a rule without verbs": (template(role(rules=[{"resources": ["pods"]}])), "verbs: Required value"),
    "a verb that is a number": (template(role(rules=[{"verbs": [1]}])), "verbs[0]"),
    "a subject without kind": (template(role(subjects=[{"name": "a"}])), "subjects[0].kind: Required value"),
    "a subject without name": (template(role(bindingTemplate={"subjects": [{"kind": "User"}]})),
                               "subjects[0].name: Required value"),
    "too many roles": (template(*[role()] * 101), "spec.clusterRoles"),
    "a colour that is not in the enum": (widget(color="blue"), 'Unsupported value: "blue"'),
    "more than the exclusive maximum": (widget(replicas=1000), "spec.replicas"),
    "not a multiple of 5": (widget(steps=7), "spec.steps"),
    "a string that the pattern does not match": (widget(port="80x"), "spec.port"),
    "a string that is not a time": (widget(every=None, when="soon"), "spec.when"),
    "a string that is not a duration": (widget(every="soon"), "spec.every"),
    "a duration without a unit": (widget(every="90"), "spec.every"),
    "a string that is not a uuid": (widget(uid="x"), "spec.uid"),
    "both of a oneof": (widget(url="u", part={"name": "p"}), "at most one of url, part"),
    "both of exactlyOneOf": (widget(when="2026-01-02T03:04:05Z"), "exactly one of when, every"),
    "none of exactlyOneOf": (widget(every=None), "exactly one of when, every"),
    "an item twice in a set": (widget(tags=["a", "a"]), "Duplicate value"),
    "a key twice in a map": (widget(spareParts=[{"name": "a"}, {"name": "a", "port": 80}]), "Duplicate value"),
    "an empty list with minItems": (widget(spareParts=[]), "spec.spareParts"),
    "a value that a map may not hold": (widget(labels={"a": "B"}), "spec.labels"),
    "too many in a map": (widget(labels={c: "a" for c in "abcdef"}), "spec.labels"),
    "an embedded object without kind": (widget(object=without(embedded(), "kind")), "spec.object.kind"),
    "less than the minimum": (widget(replicas=-1), "spec.replicas"),
    "a string that is too short": (widget(namespace=""), "spec.namespace"),
    "a string that is too long": (widget(namespace="n" * 64), "spec.namespace"),
    "an integer that is not in the enum": (widget(steps=10), "Unsupported value: 10"),
    "an item that is too long": (widget(tags=["t" * 31]), "spec.tags[0]"),
    "too many items": (widget(tags=[str(n) for n in range(21)]), "spec.tags"),
    "none in a map with minProperties": (widget(labels={}), "spec.labels"),
    "null, where it is not nullable": ({**widget(), "spec": {"every": "1h", "replicas": None, "tags": [None]}},
                                       "spec.tags[0]"),
    "bytes that are not base64": (widget(data="%"), "spec.data"),
    "an invalid quantity": (widget(limits={"cpu": "much"}), "spec.limits"),
    "a number for a boolean": (widget(paused=1), "spec.paused"),
    "the exclusive minimum itself": (gadget(low=1), "spec.low"),
    "a string that is not an email address": (gadget(email="abcde"), "spec.email"),
    "none of atLeastOneOf": (gadget(low=None), "at least one of low, email"),
    "both of atMostOneOf": (gadget(code="a", amount=1), "at most one of code, amount"),
    "a number for a type of its own": (gadget(code=1), "spec.code"),
    "no match for a type of its own": (gadget(code="A"), "spec.code"),
    "a list for intOrString": (gadget(amount=[1]), "spec.amount"),
    "a number that is too large for intOrString": (gadget(amount=10), "spec.amount"),
    "a string that is too long for intOrString": (gadget(amount="1000"), "spec.amount"),
    "an item below the minimum": (gadget(numbers=[1]), "spec.numbers[0]"),
    "an item that is not in the enum": (gadget(numbers=[6]), "Unsupported value: 6"),
    "a value that is too short": (gadget(notes={"a": ""}), "spec.notes.a"),
    "too many properties": (gadget(email="a@b.c", code="a", numbers=[2], notes={"a": "b"}, slots=[], amount=None,
                                   more="x"), "spec"),
    "a name that is too long for the rule": ({**widget(), "metadata": {"name": "w" * 60, "namespace": "default"}},
                                             "is too long"),
}

CONDITIONS_DENIED: dict[str, tuple[dict[str, Any], str]] = {
    "a status beyond the enum": (condition(status="Maybe"), 'Unsupported value: "Maybe"'),
    "no reason": (without(condition(), "reason"), "reason: Required value"),
    "an empty reason": (condition(reason=""), "reason"),
    "no message": (without(condition(), "message"), "message: Required value"),
    "no lastTransitionTime": (without(condition(), "lastTransitionTime"), "lastTransitionTime: Required value"),
    "a type that is not a name": (condition(type="not a name"), "type"),
    "a negative observedGeneration": (condition(observedGeneration=-1), "observedGeneration"),
}

# The server also rejects the definitions that rbacgen rejects: this value at this path.
DEFINITIONS_DENIED: dict[str, tuple[str, dict[str, Any], str]] = {
    "uniqueItems": ("tags", {"uniqueItems": True}, "uniqueItems"),
    "a default that is not in the enum": ("color", {"default": "blue"}, "Unsupported value"),
    "a default below the minimum": ("replicas", {"default": -1}, "should be greater than or equal to 0"),
    "a default with unknown fields": ("part", {"default": {"name": "a", "no": 1}}, "must not have unknown fields"),
    "a default without a required field": ("part", {"default": {}}, "Required value"),
    "an invalid pattern": ("color", {"pattern": "("}, "pattern"),
    "oldSelf in the items of a set": ("tags", {"items": {"type": "string", "maxLength": 9, "x-kubernetes-validations": [
        {"rule": "self == oldSelf"}]}}, "oldSelf cannot be used"),
}


class Checks(ClusterCase):
    """Each check is a subtest."""

    def run_kubectl(self, *args: str, stdin: str | None = None) -> tuple[int, str]:
        """(exit code, output and errors)"""
        done = self.cluster.try_kubectl(*args, stdin=stdin)
        return done.returncode, done.stdout + done.stderr

    def check(self, name: str, holds: Any, seen: str) -> None:
        with self.subTest(name):
            self.assertTrue(holds, f"saw: {seen.strip()}")

    def says(self, name: str, *args: str, want: Iterable[str] = (), never: Iterable[str] = (), stdin: str | None = None) -> None:
        """Checks that kubectl succeeds, and that its output contains all of `want` and none of `never`."""
        code, output = self.run_kubectl(*args, stdin=stdin)
        self.check(name, code == 0 and all(w in output for w in want) and not any(n in output for n in never),
                   f"exit {code}: {output}")

    def denies(self, name: str, want: str, *args: str, stdin: str | None = None) -> None:
        code, output = self.run_kubectl(*args, stdin=stdin)
        self.check(name, code != 0 and want in output, f"exit {code}, wanted {want!r}: {output}")


class CustomResources(Checks):
    """The cases run in this order: the definitions are applied first, and a case uses the objects of the one before."""

    def test_definitions(self) -> None:
        files = sorted(os.path.join(CRDS, f) for f in os.listdir(CRDS)) + [WIDGETS, GADGETS]
        for path in files:
            name = os.path.basename(path)
            self.says(f"{name}: applied", "apply", "--server-side", "-f", path, want=["serverside-applied"])
            self.says(f"{name}: established", "wait", "--for=condition=Established", "--timeout=300s", "-f", path)
            self.says(f"{name}: structural", "get", "-f", path, "-o", "jsonpath={.status.conditions[*].type}",
                      want=["NamesAccepted"], never=["NonStructural"])
            # The server adds no defaults and drops no members, so applying a definition again changes nothing.
            _, text = self.run_kubectl("create", "--dry-run=client", "-o", "json", "-f", path)
            written = json.loads(text)["spec"]
            stored = json.loads(self.run_kubectl("get", "-o", "json", "-f", path)[1])["spec"]
            differing = [part for part in {*written, *stored} if written.get(part) != stored.get(part)]
            # The server adds the conversion None to a definition without a conversion.
            self.check(f"{name}: stored as written", differing == [] if "conversion" in written else
                       differing == ["conversion"], f"differs in {differing}")

    def test_objects(self) -> None:
        for name, thing in ACCEPTED.items():
            self.says(f"accepted: {name}", "create", "--dry-run=server", "-f", "-", stdin=json.dumps(thing))
        for name, (thing, want) in DENIED.items():
            self.denies(f"denied: {name}", want, "create", "--dry-run=server", "-f", "-", stdin=json.dumps(thing))

    def test_scopes(self) -> None:
        for thing in (ACCEPTED["the document's template"], ACCEPTED["the document's instance"]):
            self.says(f"created: {thing['kind']}", "create", "-f", "-", stdin=json.dumps(thing))
        self.says("the selector is kept as it is", "get", "si", "foo", "-o", "jsonpath={.spec.namespaceSelector}",
                  want=['{"fooKey":"barValue"}'])

        def set_status(*conditions: Any) -> tuple[str, ...]:
            return ("patch", "scopeinstance", "foo", "--subresource=status", "--type=merge", "-p",
                    json.dumps({"status": {"conditions": conditions}}))

        for name, (thing, want) in CONDITIONS_DENIED.items():
            self.denies(f"denied in status: {name}", want, *set_status(thing))
        self.denies("denied in status: a type twice", "Duplicate value", *set_status(condition(), condition(status="False")))
        self.says("accepted in status: a condition", *set_status(condition()))
        self.says("spec and status are written apart", "patch", "si", "foo", "--type=merge", "-p",
                  '{"status":{"conditions":[]}}', want=["no change"])
        self.says("columns of ScopeInstances", "get", "scopeinstances",
                  want=["NAME   TEMPLATE   SCOPED   REASON   AGE", "foo    foo        True     Bound"])
        self.says("columns of ScopeTemplates", "get", "scopetemplates", want=["NAME   TEMPLATED   REASON   AGE"])
        for short, plural in (("si", "scopeinstances"), ("st", "scopetemplates")):
            self.says(f"short name {short}", "get", short, "-o", "name", want=[f"{plural[:-1]}.operators.coreos.com/foo"])
        self.says("kubectl explain", "explain", "si.spec.namespaces", want=["granted in the whole cluster"])

    def test_widgets(self) -> None:
        self.says("created: Widget", "create", "-f", "-",
                  stdin=json.dumps(widget(color=None, namespace="n", spareParts=[{"name": "a"}])))
        self.says("defaults", "get", "wd", "w", "-o", "jsonpath={.spec.color} {.spec.replicas} {.spec.spareParts[0].port}",
                  want=["red 1 80"])
        self.says("columns of widgets", "get", "widgets", "-o", "wide", want=["REPLICAS", "AGE"])
        self.says("a column of priority 1", "get", "widgets", want=["AGE"], never=["REPLICAS"])
        self.says("scale", "scale", "widget", "w", "--replicas=3", want=["scaled"])
        self.says("field selectors", "get", "widgets", "--field-selector=spec.color=red", "-o", "name", want=["/w"])
        self.says("field selectors that match nothing", "get", "widgets", "--field-selector=spec.color=yes", "-o", "name",
                  never=["/w"])

        def change(value: Any) -> tuple[Any, Any, Any, Any, Any, Any]:
            return "patch", "widget", "w", "--type=merge", "-p", json.dumps({"spec": value})

        self.denies("an immutable field stays", "is immutable", *change({"namespace": "m"}))
        self.denies("an immutable field cannot go", "cannot be removed", *change({"namespace": None}))
        self.says("a rule with an optional oldSelf", *change({"paused": True}))
        self.denies("a rule with oldSelf", "cannot be paused twice", *change({"paused": True, "replicas": 4}))

        # Uses another object, because this one stays paused.
        other = widget()
        other["metadata"]["name"] = "v"
        self.says("created: another Widget", "create", "-f", "-", stdin=json.dumps(other))
        for manager, tag in (("one", "a"), ("two", "b")):
            applied = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "v", "namespace": "default"},
                       "spec": {"tags": [tag]}}
            self.says(f"a set is merged: {tag}", "apply", "--server-side", f"--field-manager={manager}", "-f", "-",
                      stdin=json.dumps(applied))
        self.says("a set has both managers' items", "get", "wd", "v", "-o", "jsonpath={.spec.tags}", want=['"a"', '"b"'])
        labels: dict[str, Any] = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "v", "namespace": "default"},
                  "spec": {"labels": {"a": "b"}}}
        self.says("a map is applied", "apply", "--server-side", "--field-manager=three", "-f", "-", stdin=json.dumps(labels))
        labels["spec"]["labels"] = {"c": "d"}
        self.denies("an atomic map has one manager", "conflict", "apply", "--server-side", "--field-manager=four", "-f", "-",
                     stdin=json.dumps(labels))
        self.says("an embedded object is kept whole", "patch", "widget", "v", "--type=merge", "-p",
                  json.dumps({"spec": {"object": embedded(data={"kept": "yes"})}}))
        self.says("what an embedded object holds", "get", "wd", "v", "-o", "jsonpath={.spec.object.data.kept}", want=["yes"])
        self.says("categories", "get", "all", "-o", "name", want=["widget.example.com/v"])
        self.says("labels of the definition", "get", "crd", "-l", "app=widgets", "-o",
                  "jsonpath={.items[*].metadata.annotations.example\\.com/owner}", want=["tests"])
        self.denies("a version that is not served", "NotFound", "get", "--raw",
                     "/apis/example.com/v1beta1/namespaces/default/widgets")
        self.says("the selector of the scale", "patch", "widget", "v", "--subresource=status", "--type=merge", "-p",
                  '{"status":{"selector":"app=w","replicas":2}}')
        self.says("scale shows selector and replicas", "get", "widget", "v", "--subresource=scale", "-o",
                  "jsonpath={.status.selector} {.status.replicas} {.spec.replicas}", want=["app=w 2 1"])
        self.denies("a reason and a path are the rule's", "spec.color: Forbidden", "create", "--dry-run=server", "-f", "-",
                     stdin=json.dumps(DENIED["a name that is too long for the rule"][0]))
        code, published = self.run_kubectl("get", "--raw", "/openapi/v3/apis/example.com/v1")
        for text in ('"title":"Paint"', '"externalDocs":{"description":"Which paints there are"', '"example":3'):
            self.check(f"published: {text}", code == 0 and text in published, published[:300])

    def test_gadgets(self) -> None:
        self.says("created: Gadget", "create", "-f", "-", stdin=json.dumps(gadget()))
        self.says("a default list of objects", "get", "gadgets", "g", "-o", "jsonpath={.spec.slots}", want=['"first"'])
        self.says("the singular", "get", "gizmo", "g", "-o", "name", want=["gadget"])
        self.says("the list's kind", "get", "--raw", "/apis/example.com/v1/gadgets", want=['"kind":"GadgetCollection"'])
        self.denies("no status subresource", "NotFound", "patch", "gizmo", "g", "--subresource=status", "--type=merge", "-p",
                     '{"status":{"note":"x"}}')
        self.says("status together with spec", "patch", "gizmo", "g", "--type=merge", "-p", '{"status":{"note":"x"}}')
        self.says("status is kept", "get", "gizmo", "g", "-o", "jsonpath={.status.note}", want=["x"])
        # No webhook listens at the address: the error shows that the server called it.
        self.denies("another version goes through the conversion webhook",
                     'conversion webhook for example.com/v1, Kind=Gadget failed: Post '
                     '"https://hooks.hook-system.svc:8443/convert',
                     "get", "gadgets.v1beta1.example.com", "g")
        _, said = self.run_kubectl("get", "gadgets.v1beta1.example.com")
        self.check("a deprecated version warns", "Warning: example.com/v1beta1 Gadget is old; use v1" in said, said)
        slots = [{"name": "first", "holder": "me"}]
        self.says("a field of an item is set", "patch", "gizmo", "g", "--type=merge", "-p",
                  json.dumps({"spec": {"slots": slots}}))
        slots[0]["holder"] = "you"
        self.denies("an immutable field of a map's item stays", "is immutable", "patch", "gizmo", "g", "--type=merge", "-p",
                     json.dumps({"spec": {"slots": slots}}))

    def test_denied_definitions(self) -> None:
        _, text = self.run_kubectl("create", "--dry-run=client", "-o", "json", "-f", WIDGETS)
        for name, (field, change, want) in DEFINITIONS_DENIED.items():
            definition = json.loads(text)
            definition["metadata"]["name"] = "others.example.com"
            definition["spec"]["names"] = {"kind": "Other", "listKind": "OtherList", "plural": "others",
                                           "singular": "other"}
            schema = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
            schema["properties"]["spec"]["properties"][field].update(change)
            self.denies(f"denied definition: {name}", want, "create", "--dry-run=server", "-f", "-",
                         stdin=json.dumps(definition))


def main(argv: Sequence[str]) -> int:
    return cluster_main("rbacgen/crd_cluster_test", __doc__, [CustomResources], argv)
