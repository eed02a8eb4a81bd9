"""The writes that RBAC allows: some pass the chart's fences, and the others are denied."""
import json
from typing import Any

from mandate_dev.cases.chart.chart_world import ChartCase
from mandate_dev.cases.chart.others import namespace_administrators_leave_the_marks_of_ours, others_leave_the_marks_of_ours
from mandate_dev.cases.chart.things import ACCOUNT, INSTANCE, OURS, OWNER, TEMPLATE, account, binding, event, owned_by, role, standing_role, \
    token_request, user
from mandate_dev.world import BASE, NAMESPACE

PASSES = {
    "a binding with its label": (INSTANCE, binding()),
    "a binding with its owner": (INSTANCE, binding(labels={}, ownerReferences=owned_by("ScopeInstance"))),
    "another ServiceAccount": (INSTANCE, binding(subject=account(INSTANCE, "default"))),
    "a group that it is not in": (INSTANCE, binding(subject=user("system:masters-like", "Group"))),
    "a role with its label": (TEMPLATE, role()),
    "a role with its owner": (TEMPLATE, role(labels={"operators.coreos.io/generateName": "a"}, ownerReferences=owned_by("ScopeTemplate"))),
}
MINE, FOREIGN = "may only write objects that have a controller", "may only bind roles of the pattern"
OWN, NAMED = "may never bind a role to the manager's own", "may only create objects with names of the pattern"
NOBODY, LABELS = "may never bind a role to anonymous users", "may only set labels of the pattern"
FINALIZERS, AGGREGATION = "may never add finalizers", "may never set an aggregationRule"
CONTROLLER = "may never take an object away from its controller"
STOPPED = {
    "a binding without a controller": (INSTANCE, binding(labels={"a": "b"}), MINE),
    "a binding with another controller, despite its label":
        (INSTANCE, binding(ownerReferences=owned_by("ScopeTemplate")), MINE),
    "cluster-admin": (INSTANCE, binding(role="cluster-admin"), FOREIGN),
    "a role of the system's": (INSTANCE, binding(role="system:node"), FOREIGN),
    "the role of another component": (INSTANCE, binding(role=TEMPLATE), FOREIGN),
    "a role that no template has made": (INSTANCE, binding(role="acme-operator"), FOREIGN),
    "itself": (INSTANCE, binding(subject=account(INSTANCE)), OWN),
    "itself, as a user": (INSTANCE, binding(subject=user(f"system:serviceaccount:{NAMESPACE}:{INSTANCE}")), OWN),
    "its group": (INSTANCE, binding(subject=user(f"system:serviceaccounts:{NAMESPACE}", "Group")), OWN),
    "another component": (INSTANCE, binding(subject=account(TEMPLATE)), OWN),
    "base": (INSTANCE, binding(subject=account(BASE)), OWN),
    "anonymous users": (INSTANCE, binding(subject=user("system:anonymous")), NOBODY),
    "their group": (INSTANCE, binding(subject=user("system:unauthenticated", "Group")), NOBODY),
    "a binding with a finalizer": (INSTANCE, binding(finalizers=["a.io/x"]), FINALIZERS),
    "a binding with a label more":
        (INSTANCE, binding(labels={"operators.coreos.io/scopeInstanceUID": "x", "a": "b"}), LABELS),
    "all authenticated users": (INSTANCE, binding(subject=user("system:authenticated", "Group")), OWN),
    "a role without a controller": (TEMPLATE, role(labels={"a": "b"}), MINE),
    "a role with the manager's name": (TEMPLATE, role(f"{BASE}-more"), NAMED),
    "a role with any other name": (TEMPLATE, role("acme-operator"), NAMED),
    "a role that is added to admin":
        (TEMPLATE, role(labels={"operators.coreos.io/scopeTemplateUID": "x",
                                "rbac.authorization.k8s.io/aggregate-to-admin": "true"}), LABELS),
    "a role with a finalizer": (TEMPLATE, role(finalizers=["a.io/x"]), FINALIZERS),
    "a role that others are added to":
        (TEMPLATE, dict(role(), aggregationRule={"clusterRoleSelectors": [{}]}), AGGREGATION),
}
# Changes to a role.
CHANGES = {
    "additions of other users stay": ({"rules": []}, None),
    "their label is removed": ({"metadata": {"labels": None}}, None),
    "their aggregationRule is removed": ({"aggregationRule": None}, None),
    "another aggregationRule": ({"aggregationRule": {"clusterRoleSelectors": [{}]}}, AGGREGATION),
    "another value of their label":
        ({"metadata": {"labels": {"rbac.authorization.k8s.io/aggregate-to-view": "false"}}}, LABELS),
    "another finalizer": ({"metadata": {"finalizers": ["a.io/stays", "a.io/x"]}}, FINALIZERS),
    "no controller": ({"metadata": {"ownerReferences": None, "labels": {"operators.coreos.io/scopeTemplateUID": "x"}}},
                      CONTROLLER),
    "another controller of the same kind":
        ({"metadata": {"ownerReferences": [dict(owned_by("ScopeTemplate")[0], uid="2")]}}, CONTROLLER),
}


def standing_subjects_stop_nothing(case: ChartCase) -> None:
    world = case.world
    case.step("a binding that has a component for a subject already")
    ann = {"kind": "User", "name": "ann", "apiGroup": "rbac.authorization.k8s.io"}
    standing = binding(subject=account(TEMPLATE))
    standing["subjects"].append(ann)
    world.kubectl("create", "-f", "-", stdin=json.dumps(standing))
    # kubectl reads an object before it patches it.
    world.kubectl("create", "clusterrole", "fence-reads", "--verb=get", "--resource=clusterrolebindings")
    world.kubectl("create", "clusterrolebinding", "fence-reads", "--clusterrole=fence-reads",
                  f"--serviceaccount={NAMESPACE}:{INSTANCE}")
    try:
        for name, subjects, passes in (("another subject is taken out", [account(TEMPLATE)], True),
                                       ("it is taken out", [ann], True),
                                       ("base is added", [account(TEMPLATE), ann, account(BASE)], False)):
            code, said = world.as_component(INSTANCE, "patch", "clusterrolebinding", "fence-test", "--type=merge",
                                            "--dry-run=server", "-p", json.dumps({"subjects": subjects}))
            case.expect(name if passes else f"not {name}", (code == 0) == passes and (passes or OWN in said), said)
    finally:
        world.kubectl("delete", "clusterrolebinding/fence-test", "clusterrolebinding/fence-reads",
                      "clusterrole/fence-reads")


def subjects_are_never_base(case: ChartCase) -> None:
    """With externalGrants: scopetemplate, components may be subjects; not base, nor scope-instance."""
    world = case.world
    case.step("subjects where ScopeInstances grant to components")
    for name, subject, passes in (
            ("a component", account(TEMPLATE), True), ("itself", account(INSTANCE), False), ("base", account(BASE), False),
            ("base, as a user", user(f"system:serviceaccount:{NAMESPACE}:{BASE}"), False),
            ("a ServiceAccount of that name elsewhere", account(BASE, "default"), True)):
        code, said = world.as_component(INSTANCE, "create", "--dry-run=server", "-f", "-",
                                        stdin=json.dumps(binding(subject=subject)))
        case.expect(name if passes else f"not {name}",
                    (code == 0) == passes and (passes or "may never bind a role to itself or base" in said), said)


def changes_are_judged_by_what_they_add(case: ChartCase) -> None:
    world = case.world
    case.step("changes of a role to which another user has added things")
    # The owner must exist: garbage collection deletes objects without one.
    world.kubectl("create", "-f", "-", stdin=json.dumps(OWNER))
    owner = world.get("scopetemplate", "fence-owner")["metadata"]["uid"]
    world.kubectl("create", "-f", "-", stdin=json.dumps(standing_role(owner)))
    # kubectl reads an object before it patches it.
    world.kubectl("create", "clusterrole", "fence-reads", "--verb=get", "--resource=clusterroles")
    world.kubectl("create", "clusterrolebinding", "fence-reads", "--clusterrole=fence-reads",
                  f"--serviceaccount={NAMESPACE}:{TEMPLATE}")
    try:
        for name, (change, says) in CHANGES.items():
            code, said = world.as_component(TEMPLATE, "patch", "clusterrole", "scope-template:fence-standing", "--type=merge",
                                            "--dry-run=server", "-p", json.dumps(change))
            case.expect(name if says is None else f"not {name}", (code == 0) == (says is None) and (says or "") in said, said)
    finally:
        world.kubectl("patch", "clusterrole", "scope-template:fence-standing", "--type=merge", "-p",
                      json.dumps({"metadata": {"finalizers": None}}))
        world.kubectl("delete", "clusterrole/scope-template:fence-standing", "clusterrole/fence-reads", "clusterrolebinding/fence-reads",
                      "scopetemplate/fence-owner")


def events_are_the_components_own(case: ChartCase) -> None:
    world = case.world
    case.step("events of others, in either group")
    world.kubectl("create", "-f", "-", stdin=json.dumps(event("kubelet", "fence-kubelet")))
    # kubectl reads an object before it patches it.
    world.kubectl("create", "clusterrole", "fence-events", "--verb=get,create,patch", "--resource=events")
    world.kubectl("create", "clusterrolebinding", "fence-events", "--clusterrole=fence-events",
                  f"--serviceaccount={NAMESPACE}:{INSTANCE}")
    core = {"apiVersion": "v1", "kind": "Event", "metadata": {"name": "fence-core", "namespace": "default"},
            "involvedObject": {"kind": "Namespace", "name": "default", "namespace": "default"},
            "reportingComponent": "kubelet", "source": {"component": "kubelet"}, "type": "Normal", "reason": "Bound"}
    try:
        for name, thing, passes in (("its own", event("scope-instance"), True),
                                    ("another component's", event("scope-template"), False),
                                    ("the kubelet's", event("kubelet"), False),
                                    ("the kubelet's, in the core group", core, False)):
            code, said = world.as_component(INSTANCE, "create", "--dry-run=server", "-f", "-", stdin=json.dumps(thing))
            case.expect(name if passes else f"not {name}",
                        (code == 0) == passes and (passes or "may only write its own events" in said), said)
        for change in ({"note": "y"}, {"reportingController": "scope-instance"}):
            code, said = world.as_component(INSTANCE, "patch", "events", "fence-kubelet", "-n", "default", "--type=merge",
                                            "--dry-run=server", "-p", json.dumps(change))
            case.expect(f"no change of the kubelet's: {', '.join(change)}",
                        code != 0 and "may only write its own events" in said, said)
    finally:
        world.kubectl("delete", "clusterrole/fence-events", "clusterrolebinding/fence-events")
        world.kubectl("delete", "events", "fence-kubelet", "-n", "default")


def base_asks_as_the_manager_does(case: ChartCase, kill_switch: bool) -> None:
    """With a stolen credential of base a thief can get only the tokens that the manager requests."""
    world = case.world
    case.step(f"tokens that base may request, {'with' if kill_switch else 'without'} the kill switch")
    bound = {"boundObjectRef": OURS} if kill_switch else {}
    passes: dict[str, dict[str, Any]] = {"an hour": dict(bound, expirationSeconds=3600), "nothing said": bound}
    long, foreign = "valid for an hour at most", "for the API server's own audiences"
    stopped: dict[str, tuple[dict[str, Any], str]] = {
        "3601 s": (dict(bound, expirationSeconds=3601), long),
        "a century": (dict(bound, expirationSeconds=1 << 32), long),
        "another audience": (dict(bound, audiences=["vault"]), foreign),
        "another audience next to ours": (dict(bound, audiences=["https://kubernetes.default.svc.cluster.local", "vault"]),
                                          foreign),
    }
    if kill_switch:
        stopped["bound to nothing"] = ({}, "bound to the Secret of")
        stopped["bound to another Secret"] = ({"boundObjectRef": dict(OURS, name=TEMPLATE)}, "bound to the Secret of")
    else:
        stopped["bound to a Secret"] = ({"boundObjectRef": OURS}, "bound to the ServiceAccount alone")
    for name, spec in passes.items():
        code, said = world.as_component(BASE, "create", "--raw", ACCOUNT, "-f", "-", stdin=token_request(**spec))
        case.expect(name, code == 0, said)
    for name, (spec, says) in stopped.items():
        code, said = world.as_component(BASE, "create", "--raw", ACCOUNT, "-f", "-", stdin=token_request(**spec))
        case.expect(f"not {name}", code != 0 and says in said, said)


class Fences(ChartCase):
    """Tests the fences write by write."""

    def test_fences_hold(self) -> None:
        """RBAC allows each of these writes; the API server denies those that the fences of the markers exclude."""
        world = self.world
        # A running manager would correct or delete the objects that the tests make.
        world.stop_manager()
        self.step("the policies have no mistakes")

        def checked() -> tuple[Any, Any]:
            policies = world.get("validatingadmissionpolicies", "-l", f"app.kubernetes.io/name={BASE}")["items"]
            return all(p["status"].get("observedGeneration") and "typeChecking" in p["status"] for p in policies), policies
        world.eventually("the server has checked their types", checked)
        policies = world.get("validatingadmissionpolicies", "-l", f"app.kubernetes.io/name={BASE}")["items"]
        warnings = [w for p in policies for w in p["status"].get("typeChecking", {}).get("expressionWarnings", [])]
        self.expect(f"{len(policies)} policies, no warnings", policies and not warnings, warnings)

        self.step("writes that pass")
        for name, (who, thing) in PASSES.items():
            code, said = world.as_component(who, "create", "--dry-run=server", "-f", "-", stdin=json.dumps(thing))
            self.expect(name, code == 0, said)
        self.step("writes that RBAC allows and the API server denies")
        for name, (who, thing, says) in STOPPED.items():
            verb = "clusterrolebindings" if thing["kind"].endswith("Binding") else "clusterroles"
            code, said = world.as_component(who, "create", "--dry-run=server", "-f", "-", stdin=json.dumps(thing))
            allowed = world.as_component(who, "auth", "can-i", "create", verb)[0] == 0
            self.expect(name, code != 0 and says in said and "ValidatingAdmissionPolicy" in said and allowed,
                        f"can-i: {allowed}; {said}")
        self.step("objects of other users are neither changed nor deleted")
        group = "/apis/rbac.authorization.k8s.io/v1"
        for who, kind, name, thing in ((INSTANCE, "clusterrolebindings", "cluster-admin", binding("cluster-admin")),
                                       (TEMPLATE, "clusterroles", "view", role())):
            thing["metadata"]["name"] = name
            code, said = world.as_component(who, "apply", "--server-side", "--force-conflicts", "--dry-run=server",
                                            "--field-manager=test", "-f", "-", stdin=json.dumps(thing))
            self.expect(f"patch of {name}", code != 0 and MINE in said, said)
            code, said = world.as_component(who, "delete", "--raw", f"{group}/{kind}/{name}?dryRun=All")
            self.expect(f"delete of {name}", code != 0 and MINE in said, said)
        changes_are_judged_by_what_they_add(self)
        others_leave_the_marks_of_ours(self)
        namespace_administrators_leave_the_marks_of_ours(self)
        standing_subjects_stop_nothing(self)
        events_are_the_components_own(self)
        self.step("the same by another user")
        theirs = json.dumps(binding(role="view", labels={"a": "b"}))
        world.kubectl("create", "--dry-run=server", "-f", "-", stdin=theirs)
        self.held("passes")
        base_asks_as_the_manager_does(self, kill_switch=False)
        world.restart_manager()
