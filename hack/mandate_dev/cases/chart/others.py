"""The guard: the changes that other users may make to the components' objects, and the names that they may use."""
import json
from typing import Any

from mandate_dev.cases.chart.chart_world import ChartCase
from mandate_dev.cases.chart.things import OWNER, binding, owned_by, role, standing_role
from mandate_dev.report import StepFailed

OWNERS, KEYS, KEEPERS = "may change the owners", "may change its labels of the pattern", "may add finalizers"
TAKEN = "may create objects with names of the pattern scope-template:*"


def others(kind: str, uid_label: Any) -> dict[str, Any]:
    """Changes by another user to an object with an owner of this kind, its label and the finalizer a.io/stays."""
    return {
        "another label": ({"metadata": {"labels": {"a": "b"}}}, None),
        "without finalizers": ({"metadata": {"finalizers": None}}, None),
        "no owner": ({"metadata": {"ownerReferences": None}}, OWNERS),
        "another owner": ({"metadata": {"ownerReferences": owned_by(kind)}}, OWNERS),
        "one owner more": ({"metadata": {"ownerReferences": owned_by(kind) + [dict(
            owned_by("ConfigMap")[0], apiVersion="v1", controller=False)]}}, OWNERS),
        "no label": ({"metadata": {"labels": {uid_label: None}}}, KEYS),
        "another value of the label": ({"metadata": {"labels": {uid_label: "y"}}}, KEYS),
        "a label that only ours have": ({"metadata": {"labels": {"operators.coreos.io/generateName": "y"}}}, KEYS),
        "a finalizer": ({"metadata": {"finalizers": ["a.io/stays", "a.io/x"]}}, KEEPERS),
    }


ROLE_OTHERS: dict[str, Any] = {"rules, which are corrected": ({"rules": []}, None),
               **others("ScopeTemplate", "operators.coreos.io/scopeTemplateUID")}
BINDING_OTHERS: dict[str, Any] = {"subjects, which are corrected": ({"subjects": []}, None),
                  **others("ScopeInstance", "operators.coreos.io/scopeInstanceUID")}


def judged(case: ChartCase, who: str, what: str, changes: Any, *where: str) -> None:
    world = case.world
    for name, (change, says) in changes.items():
        code, said = world.as_user(who, "patch", what, *where, "--type=merge", "--dry-run=server", "-p", json.dumps(change))
        passes = says is None
        case.expect(name if passes else f"not {name}", (code == 0) == passes and (passes or says in said), said)


def others_make_no_such_names(case: ChartCase) -> None:
    """scope-instance may bind only roles with the prefix, and only scope-template may create them."""
    world = case.world
    def create(meta: Any, *who: str) -> tuple[Any, Any]:
        try:
            return 0, world.kubectl("create", "--dry-run=server", "-f", "-", *who, stdin=json.dumps(dict(role(), metadata=meta)))
        except StepFailed as failure:
            return 1, failure.seen
    for meta in ({"name": "scope-template:eve"}, {"generateName": "scope-template:"}):
        code, said = create(meta, "--as=eve")
        case.expect(f"not a role {json.dumps(meta)}", code != 0 and TAKEN in said, said)
        code, said = create(meta)
        case.expect(f"a role {json.dumps(meta)}, by the cluster's administrator", code == 0, said)
    code, said = create({"name": "eve", "labels": {"operators.coreos.io/scopeTemplateUID": "x"}}, "--as=eve")
    case.expect("a role of another name", code == 0, said)


def others_leave_the_marks_of_ours(case: ChartCase) -> None:
    world = case.world
    case.step("changes by a user with permission to patch all roles and bindings")
    world.kubectl("create", "-f", "-", stdin=json.dumps(OWNER))
    owner = world.get("scopetemplate", "fence-owner")["metadata"]["uid"]
    guarded = dict(standing_role(owner))
    guarded["metadata"] = dict(guarded["metadata"], labels={"operators.coreos.io/scopeTemplateUID": owner})
    del guarded["aggregationRule"]
    world.kubectl("create", "-f", "-", stdin=json.dumps(guarded))
    world.kubectl("create", "-f", "-", stdin=json.dumps(binding()))
    world.kubectl("create", "-f", "-", stdin=json.dumps(dict(role("fence-eve"), rules=[
        {"apiGroups": ["rbac.authorization.k8s.io"], "resources": ["clusterroles", "clusterrolebindings"],
         "verbs": ["get", "create", "patch", "delete", "escalate", "bind"]}])))
    world.kubectl("create", "clusterrolebinding", "fence-eve", "--clusterrole=fence-eve", "--user=eve")

    def patch(what: str, change: Any, *who: str) -> tuple[Any, Any]:
        try:
            return 0, world.kubectl("patch", what, "--type=merge", "--dry-run=server", "-p", json.dumps(change), *who)
        except StepFailed as failure:
            return 1, failure.seen
    try:
        others_make_no_such_names(case)
        judged(case, "eve", "clusterrole/scope-template:fence-standing", ROLE_OTHERS)
        code, said = patch("clusterrolebinding/fence-test", {"metadata": {"labels": None}}, "--as=eve")
        case.expect("not a binding without its label", code != 0 and KEYS in said, said)
        code, said = patch("clusterrolebinding/fence-eve", {"metadata": {"ownerReferences": owned_by("ScopeTemplate")}}, "--as=eve")
        case.expect("a binding without a controller", code == 0, said)
        code, said = patch("clusterrole/scope-template:fence-standing", {"metadata": {"ownerReferences": None}})
        case.expect("no owner, by the cluster's administrator", code == 0, said)
        # Kubernetes' own garbage collection removes the owner.
        world.kubectl("delete", "scopetemplate/fence-owner", "--cascade=orphan")
        world.eventually("orphaned", lambda: (
            (role := world.get("clusterrole", "scope-template:fence-standing")) and "ownerReferences" not in role["metadata"], role))
    finally:
        world.kubectl("patch", "clusterrole", "scope-template:fence-standing", "--type=merge", "-p",
                      json.dumps({"metadata": {"finalizers": None}}))
        world.kubectl("delete", "--ignore-not-found", "clusterrole/scope-template:fence-standing", "clusterrole/fence-eve",
                      "clusterrolebinding/fence-eve", "clusterrolebinding/fence-test", "scopetemplate/fence-owner")


def namespace_administrators_leave_the_marks_of_ours(case: ChartCase) -> None:
    world = case.world
    case.step("changes of a RoleBinding by the namespace's administrator")
    instance = {**OWNER, "kind": "ScopeInstance", "spec": {"scopeTemplateName": "fence-owner", "namespaces": ["default"]}}
    world.kubectl("create", "-f", "-", stdin=json.dumps(instance))
    uid = world.get("scopeinstance", "fence-owner")["metadata"]["uid"]
    # Nina has its rules, so Kubernetes itself lets her change the binding.
    world.kubectl("create", "-f", "-", stdin=json.dumps(role("scope-template:fence-held")))
    standing = binding("scope-template:fence-held", name="fence-standing", namespace="default", finalizers=["a.io/stays"],
                       labels={"operators.coreos.io/scopeInstanceUID": uid},
                       ownerReferences=owned_by("ScopeInstance", "fence-owner", uid))
    world.kubectl("create", "-f", "-", stdin=json.dumps({**standing, "kind": "RoleBinding"}))
    world.kubectl("create", "rolebinding", "fence-nina", "-n", "default", "--clusterrole=admin", "--user=nina")
    try:
        judged(case, "nina", "rolebinding/fence-standing", BINDING_OTHERS, "-n", "default")
        code, said = world.as_user("nina", "delete", "rolebinding/fence-standing", "-n", "default", "--dry-run=server")
        case.expect("its deletion, as the manager creates it again", code == 0, said)
        mine = json.dumps({"metadata": {"finalizers": ["a.io/x"], "labels": {"operators.coreos.io/scopeInstanceUID": "x"}}})
        code, said = world.as_user("nina", "patch", "rolebinding/fence-nina", "-n", "default", "--type=merge", "--dry-run=server",
                                   "-p", mine)
        case.expect("a binding without a controller", code == 0, said)
    finally:
        world.kubectl("patch", "rolebinding", "fence-standing", "-n", "default", "--type=merge", "-p",
                      json.dumps({"metadata": {"finalizers": None}}))
        world.kubectl("delete", "-n", "default", "rolebinding/fence-standing", "rolebinding/fence-nina")
        world.kubectl("delete", "clusterrole/scope-template:fence-held", "scopeinstance/fence-owner")
