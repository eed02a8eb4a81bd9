"""Tests the promises of docs/scope.md on a real API server. Each check restores the cluster's state."""
import json
from typing import Any

from mandate_dev.cases import WorldCase
from mandate_dev.cases.e2e.checks import apply, condition, instance, scoped, template
from mandate_dev.world import World


def generated(world: World, kind: str, *where: str) -> list[Any]:
    return [o for o in world.get(kind, *where)["items"]
            if any(label.startswith("operators.coreos.io/") for label in o["metadata"].get("labels", {}))]


def only(world: World, kind: str, *where: str) -> Any:
    """Returns the generated object of this kind."""
    found = generated(world, kind, *where)
    return found[0] if len(found) == 1 else None


def patch(world: World, kind: str, name: str, change: Any, *where: str) -> None:
    world.kubectl("patch", kind, name, *where, "--type=merge", "-p", json.dumps(change))


def reason(world: World, kind: str, wanted: Any, name: str = "e2e") -> None:
    def look() -> tuple[Any, Any]:
        seen = condition(world, kind, name, "Templated" if kind == "scopetemplate" else "Scoped")
        return seen.get("reason") == wanted, seen
    world.eventually(f"{kind} {name}: {wanted}", look)


def clean(world: World, *more: Any) -> None:
    world.kubectl("delete", "scopeinstance/e2e", "scopetemplate/e2e", *more)
    world.eventually("the generated role is gone", lambda: (not generated(world, "clusterroles"), "it is there"))


class Scope(WorldCase):
    """Tests the grants of ScopeTemplates and ScopeInstances."""

    def test_roles_are_what_the_template_says(self) -> None:
        """rules: [] empties a role; an aggregationRule and a label of other users are removed."""
        world = self.world
        self.step("a role, and changes of it by other users")
        apply(world, template(), instance(["default"]))
        scoped(world, "True")
        good = only(world, "clusterroles")
        name = good["metadata"]["name"]
        changes: list[dict[str, Any]] = [
            {"metadata": {"labels": {"rbac.authorization.k8s.io/aggregate-to-view": "true"}}},
            {"aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"e2e": "none"}}]}},
            {"rules": [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]}]
        for change in changes:
            patch(world, "clusterrole", name, change)

            def restored() -> tuple[Any, Any]:
                seen = world.get("clusterrole", name)
                same = (seen.get("rules") == good["rules"] and "aggregationRule" not in seen
                        and seen["metadata"]["labels"] == good["metadata"]["labels"])
                return same, seen
            world.eventually(f"{next(iter(change))}: undone", restored)
        self.step("rules: []")
        emptied = template()
        emptied["spec"]["clusterRoles"][0]["rules"] = []
        apply(world, emptied)
        world.eventually("the role has no rules", lambda: (not world.get("clusterrole", name).get("rules"), "it has"))
        reason(world, "scopetemplate", "TemplatingSuccessful")
        scoped(world, "True")
        clean(world)

    def test_revocation_never_waits(self) -> None:
        """Narrowing takes effect even if the template has failed; a binding that other users keep is reported."""
        world = self.world
        self.step("a grant in the cluster, and a template that fails")
        everywhere = instance([])
        apply(world, template(), everywhere)
        scoped(world, "True")
        failing = template()
        failing["spec"]["clusterRoles"].append({"generateName": "e2e-failing-", "subjects": [{"kind": "User", "name": "ann"}],
                                                "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": []}]})
        apply(world, failing)
        reason(world, "scopetemplate", "TemplatingFailed")
        apply(world, instance(["default"]))
        world.eventually("the ClusterRoleBinding is gone",
                         lambda: (not generated(world, "clusterrolebindings"), "it is there"))
        apply(world, template())
        scoped(world, "True")
        self.step("a namespace's administrator takes the binding, and the scope is narrowed")
        binding = only(world, "rolebindings", "-n", "default")["metadata"]["name"]
        holder = world.get("configmap", "kube-root-ca.crt", "-n", "default")["metadata"]
        patch(world, "rolebinding", binding, {"metadata": {"ownerReferences": [
            {"apiVersion": "v1", "kind": "ConfigMap", "name": holder["name"], "uid": holder["uid"],
             "controller": True}]}}, "-n", "default")
        apply(world, instance(["kube-public"]))
        reason(world, "scopeinstance", "RevocationPending")
        seen = condition(world, "scopeinstance", "e2e", "Scoped")
        self.expect("the condition names the binding", binding in seen["message"], seen)
        world.kubectl("delete", "rolebinding", binding, "-n", "default")
        scoped(world, "True")
        clean(world)
