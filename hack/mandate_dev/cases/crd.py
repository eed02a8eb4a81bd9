"""What rbacgen crd makes, on a real API server: accepted, structural, stable, and as strict as it says.

usage: rbacgen/crd_cluster_test [--dir DIR] [--port N]

Starts a control plane of its own in DIR (default: a new temporary folder) and stops it. The last line is
`N passed, N failed`; the exit code is 0 only when nothing failed.
"""
import argparse
import json
import os
import shutil
import subprocess
import tempfile

from mandate_dev.paths import ROOT

CLUSTER = os.path.join(ROOT, "hack", "cluster")
CRDS = os.path.join(ROOT, "charts", "mandate", "crds")
# The whole vocabulary of options, as the unit test compares it.
WIDGETS = os.path.join(ROOT, "rbacgen", "crd", "testdata", "example.com_widgets.yaml")
GADGETS = os.path.join(ROOT, "rbacgen", "crd", "testdata", "example.com_gadgets.yaml")
GROUP = "operators.coreos.com/v1alpha1"


def scoped(kind, spec, name="foo"):
    return {"apiVersion": GROUP, "kind": kind, "metadata": {"name": name}, "spec": spec}


def instance(**spec):
    return scoped("ScopeInstance", {"scopeTemplateName": "foo", **spec})


def role(**changes):
    subjects = [{"kind": "ServiceAccount", "name": "foo-service-account", "namespace": "foo-operator"}]
    rule = {"apiGroups": [""], "resources": ["pods", "services"], "verbs": ["get", "list", "create", "watch"]}
    return {"generateName": "fooClusterRole-", "rules": [rule], "bindingTemplate": {"subjects": subjects}, **changes}


def template(*roles, **spec):
    return scoped("ScopeTemplate", {"clusterRoles": list(roles), **spec})


def without(mapping, *names):
    return {k: v for k, v in mapping.items() if k not in names}


def condition(**changes):
    return {"type": "Scoped", "status": "True", "reason": "Bound", "message": "", "observedGeneration": 1,
            "lastTransitionTime": "2026-01-02T03:04:05Z", **changes}


def widget(**spec):
    spec = {"color": "red", "every": "1h", **spec}
    return {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w", "namespace": "default"},
            "spec": {k: v for k, v in spec.items() if v is not None}}


def gadget(**spec):
    spec = {"low": 2, **spec}
    return {"apiVersion": "example.com/v1", "kind": "Gadget", "metadata": {"name": "g"},
            "spec": {k: v for k, v in spec.items() if v is not None}}


def nested(depth):
    value = "x"
    for _ in range(depth):
        value = {"a": value}
    return value


def embedded(**fields):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}, **fields}


ACCEPTED = {
    "the document's template": template(role()),
    "the document's instance": instance(namespaces=["foo", "bar"], namespaceSelector={"fooKey": "barValue"}),
    "subjects beside the role": template(without(role(subjects=[{"kind": "Group", "name": "g"}]), "bindingTemplate")),
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

# What is refused, and what the server says of it.
REFUSED = {
    "no spec": (without(instance(), "spec"), "spec: Required value"),
    "no scopeTemplateName": (scoped("ScopeInstance", {"namespaces": ["foo"]}),
                             "spec.scopeTemplateName: Required value"),
    "an empty scopeTemplateName": (instance(scopeTemplateName=""), "spec.scopeTemplateName"),
    "a scopeTemplateName that is too long": (instance(scopeTemplateName="a" * 254), "spec.scopeTemplateName"),
    "a namespace that is no name": (instance(namespaces=["Bad_Name"]), "spec.namespaces[0]"),
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
    "a generateName that is no path segment": (template(role(generateName="a/b")), "generateName"),
    "no rules": (template(without(role(), "rules")), "rules: Required value"),
    "a rule without verbs": (template(role(rules=[{"resources": ["pods"]}])), "verbs: Required value"),
    "a verb that is a number": (template(role(rules=[{"verbs": [1]}])), "verbs[0]"),
    "a subject without kind": (template(role(subjects=[{"name": "a"}])), "subjects[0].kind: Required value"),
    "a subject without name": (template(role(bindingTemplate={"subjects": [{"kind": "User"}]})),
                               "subjects[0].name: Required value"),
    "too many roles": (template(*[role()] * 101), "spec.clusterRoles"),
    "a colour that is not in the enum": (widget(color="blue"), 'Unsupported value: "blue"'),
    "more than the exclusive maximum": (widget(replicas=1000), "spec.replicas"),
    "no multiple of 5": (widget(steps=7), "spec.steps"),
    "a string that the pattern refuses": (widget(port="80x"), "spec.port"),
    "a string that is no time": (widget(every=None, when="soon"), "spec.when"),
    "a string that is no duration": (widget(every="soon"), "spec.every"),
    "a duration without a unit": (widget(every="90"), "spec.every"),
    "a string that is no uuid": (widget(uid="x"), "spec.uid"),
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
    "bytes that are no base64": (widget(data="%"), "spec.data"),
    "a quantity that is none": (widget(limits={"cpu": "much"}), "spec.limits"),
    "a number for a boolean": (widget(paused=1), "spec.paused"),
    "the exclusive minimum itself": (gadget(low=1), "spec.low"),
    "a string that is no email": (gadget(email="abcde"), "spec.email"),
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

CONDITIONS_REFUSED = {
    "a status beyond the enum": (condition(status="Maybe"), 'Unsupported value: "Maybe"'),
    "no reason": (without(condition(), "reason"), "reason: Required value"),
    "an empty reason": (condition(reason=""), "reason"),
    "no message": (without(condition(), "message"), "message: Required value"),
    "no lastTransitionTime": (without(condition(), "lastTransitionTime"), "lastTransitionTime: Required value"),
    "a type that is no name": (condition(type="not a name"), "type"),
    "a negative observedGeneration": (condition(observedGeneration=-1), "observedGeneration"),
}


class Checks:
    def __init__(self, kubectl):
        self.kubectl = kubectl
        self.passed = self.failed = 0

    def run(self, *args, stdin=None):
        """(exit code, output and errors) of kubectl."""
        env = {k: v for k, v in os.environ.items() if k != "KUBECONFIG"}
        done = subprocess.run([self.kubectl, *args], input=stdin, capture_output=True, text=True, timeout=600, env=env)
        return done.returncode, done.stdout + done.stderr

    def check(self, name, holds, seen):
        self.passed, self.failed = self.passed + bool(holds), self.failed + (not holds)
        print(f"{'ok  ' if holds else 'FAIL'} {name}", *([] if holds else [f"\n     saw: {seen.strip()}"]), flush=True)
        return holds

    def says(self, name, *args, want=(), never=(), stdin=None):
        """kubectl succeeds, and its output has all of `want` and none of `never`."""
        code, output = self.run(*args, stdin=stdin)
        return self.check(name, code == 0 and all(w in output for w in want) and not any(n in output for n in never),
                          f"exit {code}: {output}")

    def refuses(self, name, want, *args, stdin=None):
        code, output = self.run(*args, stdin=stdin)
        return self.check(name, code != 0 and want in output, f"exit {code}, wanted {want!r}: {output}")


def check_definitions(c):
    files = sorted(os.path.join(CRDS, f) for f in os.listdir(CRDS)) + [WIDGETS, GADGETS]
    for path in files:
        name = os.path.basename(path)
        c.says(f"{name}: applied", "apply", "--server-side", "-f", path, want=["serverside-applied"])
        c.says(f"{name}: established", "wait", "--for=condition=Established", "--timeout=300s", "-f", path)
        c.says(f"{name}: structural", "get", "-f", path, "-o", "jsonpath={.status.conditions[*].type}",
               want=["NamesAccepted"], never=["NonStructural"])
        # The server adds no default and drops nothing: a definition that is applied again changes nothing.
        _, written = c.run("create", "--dry-run=client", "-o", "json", "-f", path)
        _, stored = c.run("get", "-o", "json", "-f", path)
        written, stored = json.loads(written)["spec"], json.loads(stored)["spec"]
        differing = [part for part in {*written, *stored} if written.get(part) != stored.get(part)]
        # Where nothing is said of conversion, the server says None.
        c.check(f"{name}: stored as written", differing == [] if "conversion" in written else
                differing == ["conversion"], f"differs in {differing}")


def check_objects(c):
    for name, thing in ACCEPTED.items():
        c.says(f"accepted: {name}", "create", "--dry-run=server", "-f", "-", stdin=json.dumps(thing))
    for name, (thing, want) in REFUSED.items():
        c.refuses(f"refused: {name}", want, "create", "--dry-run=server", "-f", "-", stdin=json.dumps(thing))


def check_scopes(c):
    for thing in (ACCEPTED["the document's template"], ACCEPTED["the document's instance"]):
        c.says(f"created: {thing['kind']}", "create", "-f", "-", stdin=json.dumps(thing))
    c.says("the selector is kept as it is", "get", "si", "foo", "-o", "jsonpath={.spec.namespaceSelector}",
           want=['{"fooKey":"barValue"}'])

    def set_status(*conditions):
        return ("patch", "scopeinstance", "foo", "--subresource=status", "--type=merge", "-p",
                json.dumps({"status": {"conditions": conditions}}))

    for name, (thing, want) in CONDITIONS_REFUSED.items():
        c.refuses(f"refused in status: {name}", want, *set_status(thing))
    c.refuses("refused in status: a type twice", "Duplicate value", *set_status(condition(), condition(status="False")))
    c.says("accepted in status: a condition", *set_status(condition()))
    c.says("spec and status are written apart", "patch", "si", "foo", "--type=merge", "-p",
           '{"status":{"conditions":[]}}', want=["no change"])
    c.says("columns of ScopeInstances", "get", "scopeinstances",
           want=["NAME   TEMPLATE   SCOPED   REASON   AGE", "foo    foo        True     Bound"])
    c.says("columns of ScopeTemplates", "get", "scopetemplates", want=["NAME   TEMPLATED   REASON   AGE"])
    for short, plural in (("si", "scopeinstances"), ("st", "scopetemplates")):
        c.says(f"short name {short}", "get", short, "-o", "name", want=[f"{plural[:-1]}.operators.coreos.com/foo"])
    c.says("kubectl explain", "explain", "si.spec.namespaces", want=["granted in the whole cluster"])


def check_widgets(c):
    c.says("created: Widget", "create", "-f", "-",
           stdin=json.dumps(widget(color=None, namespace="n", spareParts=[{"name": "a"}])))
    c.says("defaults", "get", "wd", "w", "-o", "jsonpath={.spec.color} {.spec.replicas} {.spec.spareParts[0].port}",
           want=["red 1 80"])
    c.says("columns of widgets", "get", "widgets", "-o", "wide", want=["REPLICAS", "AGE"])
    c.says("a column of priority 1", "get", "widgets", want=["AGE"], never=["REPLICAS"])
    c.says("scale", "scale", "widget", "w", "--replicas=3", want=["scaled"])
    c.says("field selectors", "get", "widgets", "--field-selector=spec.color=red", "-o", "name", want=["/w"])
    c.says("field selectors that match nothing", "get", "widgets", "--field-selector=spec.color=yes", "-o", "name",
           never=["/w"])

    def change(value):
        return "patch", "widget", "w", "--type=merge", "-p", json.dumps({"spec": value})

    c.refuses("an immutable field stays", "is immutable", *change({"namespace": "m"}))
    c.refuses("an immutable field cannot go", "cannot be removed", *change({"namespace": None}))
    c.says("a rule with an optional oldSelf", *change({"paused": True}))
    c.refuses("a rule with oldSelf", "cannot be paused twice", *change({"paused": True, "replicas": 4}))


    # Another one, as this one is paused for good.
    other = widget()
    other["metadata"]["name"] = "v"
    c.says("created: another Widget", "create", "-f", "-", stdin=json.dumps(other))
    for manager, tag in (("one", "a"), ("two", "b")):
        applied = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "v", "namespace": "default"},
                   "spec": {"tags": [tag]}}
        c.says(f"a set is merged: {tag}", "apply", "--server-side", f"--field-manager={manager}", "-f", "-",
               stdin=json.dumps(applied))
    c.says("a set has both managers' items", "get", "wd", "v", "-o", "jsonpath={.spec.tags}", want=['"a"', '"b"'])
    labels = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "v", "namespace": "default"},
              "spec": {"labels": {"a": "b"}}}
    c.says("a map is applied", "apply", "--server-side", "--field-manager=three", "-f", "-", stdin=json.dumps(labels))
    labels["spec"]["labels"] = {"c": "d"}
    c.refuses("an atomic map has one manager", "conflict", "apply", "--server-side", "--field-manager=four", "-f", "-",
              stdin=json.dumps(labels))
    c.says("an embedded object is kept whole", "patch", "widget", "v", "--type=merge", "-p",
           json.dumps({"spec": {"object": embedded(data={"kept": "yes"})}}))
    c.says("what an embedded object holds", "get", "wd", "v", "-o", "jsonpath={.spec.object.data.kept}", want=["yes"])
    c.says("categories", "get", "all", "-o", "name", want=["widget.example.com/v"])
    c.says("labels of the definition", "get", "crd", "-l", "app=widgets", "-o",
           "jsonpath={.items[*].metadata.annotations.example\\.com/owner}", want=["tests"])
    c.refuses("a version that is not served", "NotFound", "get", "--raw",
              "/apis/example.com/v1beta1/namespaces/default/widgets")
    c.says("the selector of the scale", "patch", "widget", "v", "--subresource=status", "--type=merge", "-p",
           '{"status":{"selector":"app=w","replicas":2}}')
    c.says("scale shows selector and replicas", "get", "widget", "v", "--subresource=scale", "-o",
           "jsonpath={.status.selector} {.status.replicas} {.spec.replicas}", want=["app=w 2 1"])
    c.refuses("a reason and a path are the rule's", "spec.color: Forbidden", "create", "--dry-run=server", "-f", "-",
              stdin=json.dumps(REFUSED["a name that is too long for the rule"][0]))
    code, published = c.run("get", "--raw", "/openapi/v3/apis/example.com/v1")
    for text in ('"title":"Paint"', '"externalDocs":{"description":"Which paints there are"', '"example":3'):
        c.check(f"published: {text}", code == 0 and text in published, published[:300])


def check_gadgets(c):
    c.says("created: Gadget", "create", "-f", "-", stdin=json.dumps(gadget()))
    c.says("a default list of objects", "get", "gadgets", "g", "-o", "jsonpath={.spec.slots}", want=['"first"'])
    c.says("the singular", "get", "gizmo", "g", "-o", "name", want=["gadget"])
    c.says("the list's kind", "get", "--raw", "/apis/example.com/v1/gadgets", want=['"kind":"GadgetCollection"'])
    c.refuses("no status subresource", "NotFound", "patch", "gizmo", "g", "--subresource=status", "--type=merge", "-p",
              '{"status":{"note":"x"}}')
    c.says("status beside spec", "patch", "gizmo", "g", "--type=merge", "-p", '{"status":{"note":"x"}}')
    c.says("status is kept", "get", "gizmo", "g", "-o", "jsonpath={.status.note}", want=["x"])
    # Nobody answers at the webhook's address: that it was asked is seen in the error.
    c.refuses("another version goes through the conversion webhook",
              'conversion webhook for example.com/v1, Kind=Gadget failed: Post '
              '"https://hooks.hook-system.svc:8443/convert',
              "get", "gadgets.v1beta1.example.com", "g")
    _, said = c.run("get", "gadgets.v1beta1.example.com")
    c.check("a deprecated version warns", "Warning: example.com/v1beta1 Gadget is old; use v1" in said, said)
    slots = [{"name": "first", "holder": "me"}]
    c.says("a field of an item is set", "patch", "gizmo", "g", "--type=merge", "-p",
           json.dumps({"spec": {"slots": slots}}))
    slots[0]["holder"] = "you"
    c.refuses("an immutable field of a map's item stays", "is immutable", "patch", "gizmo", "g", "--type=merge", "-p",
              json.dumps({"spec": {"slots": slots}}))


# What rbacgen refuses is what the server refuses: in a definition, at this path, this value.
DEFINITIONS_REFUSED = {
    "uniqueItems": ("tags", {"uniqueItems": True}, "uniqueItems"),
    "a default that is not in the enum": ("color", {"default": "blue"}, "Unsupported value"),
    "a default below the minimum": ("replicas", {"default": -1}, "should be greater than or equal to 0"),
    "a default with unknown fields": ("part", {"default": {"name": "a", "no": 1}}, "must not have unknown fields"),
    "a default without a required field": ("part", {"default": {}}, "Required value"),
    "a pattern that is none": ("color", {"pattern": "("}, "pattern"),
    "oldSelf in the items of a set": ("tags", {"items": {"type": "string", "maxLength": 9, "x-kubernetes-validations": [
        {"rule": "self == oldSelf"}]}}, "oldSelf cannot be used"),
}


def check_refused_definitions(c):
    _, text = c.run("create", "--dry-run=client", "-o", "json", "-f", WIDGETS)
    for name, (field, change, want) in DEFINITIONS_REFUSED.items():
        definition = json.loads(text)
        definition["metadata"]["name"] = "others.example.com"
        definition["spec"]["names"] = {"kind": "Other", "listKind": "OtherList", "plural": "others",
                                       "singular": "other"}
        schema = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
        schema["properties"]["spec"]["properties"][field].update(change)
        c.refuses(f"refused definition: {name}", want, "create", "--dry-run=server", "-f", "-",
                  stdin=json.dumps(definition))


def main(argv):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dir", help="the control plane's folder")
    parser.add_argument("--port", default="0", help="its API server's port; 0 is any that is free")
    flags = parser.parse_args(argv)
    folder = os.path.abspath(flags.dir) if flags.dir else tempfile.mkdtemp(prefix="crd-cluster-test-")
    here = ["--dir", folder, "--port", flags.port]
    if subprocess.run([CLUSTER, "up", *here, "--watch-pid", str(os.getpid())], stdout=subprocess.DEVNULL).returncode:
        print("0 passed, 1 failed")
        return 1
    try:
        kubectl = subprocess.run([CLUSTER, "kubectl-path", *here], capture_output=True, text=True, check=True)
        c = Checks(kubectl.stdout.strip())
        check_definitions(c)
        check_objects(c)
        check_scopes(c)
        check_widgets(c)
        check_gadgets(c)
        check_refused_definitions(c)
    finally:
        subprocess.run([CLUSTER, "down", *here], stdout=subprocess.DEVNULL)
        if not flags.dir:
            shutil.rmtree(folder, ignore_errors=True)
    print(f"{c.passed} passed, {c.failed} failed")
    return int(c.failed > 0)
