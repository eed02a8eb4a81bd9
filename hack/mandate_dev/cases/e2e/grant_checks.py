"""The checks of hack/e2e/run about components' permissions. Each restores the cluster's state."""
import urllib.error
import urllib.request
from typing import Any

from mandate_dev.cases import WorldCase
from mandate_dev.cases.e2e.checks import INSTANCE, TEMPLATE, apply, falls_silent, instance, scoped, template
from mandate_dev.cases.e2e.grants import ROLE, bare, becomes_ready, binding, cluster_role, restart
from mandate_dev.world import BASE, World


def apply_printed(world: World, component: Any) -> None:
    """Applies the manifest that /readyz/COMPONENT prints after its first line."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{world.health_port}/readyz/{component}", timeout=30) as answer:
            text = answer.read().decode()
    except urllib.error.HTTPError as error:
        text = error.read().decode()
    world.kubectl("apply", "-f", "-", stdin=text.partition("\n")[2])


def without_verb(role: dict[str, Any], verb: str, resource: str) -> dict[str, Any]:
    """Returns the role without one verb of one resource."""
    rules = []
    for rule in role["rules"]:
        if verb not in rule.get("verbs", []) or resource not in rule.get("resources", []):
            rules.append(rule)
            continue
        others = [r for r in rule["resources"] if r != resource]
        rules += [{**rule, "resources": others}] if others else []
        rules.append({**rule, "resources": [resource], "verbs": [v for v in rule["verbs"] if v != verb]})
    return {**role, "rules": rules}


class Grants(WorldCase):
    """Tests the manager's reaction to the cluster's grants."""

    def test_preflight_judges_what_is_granted(self) -> None:
        """However a grant is incomplete, only its component is NotReady, and prints the manifest that makes it
        ready."""
        world = self.world
        role = bare(world.get("clusterrole", ROLE))
        bound = bare(world.get("clusterrolebinding", ROLE))
        crs = next(r for r in role["rules"] if "scopetemplates" in r["resources"])
        others = [r for r in role["rules"] if r != crs]

        def without(*objects: str) -> Any:
            return world.kubectl("delete", "--ignore-not-found", *objects)

        def restricted(**change: Any) -> Any:
            return lambda: apply(world, {**role, "rules": [*others, {**crs, **change}]})

        short = [
            ("a verb is missing", restricted(verbs=["list"]), "may not watch scopeinstances.operators.coreos.com"),
            ("a rule is limited to one name", restricted(resourceNames=["one"]),
             "may not list scopeinstances.operators.coreos.com"),
            ("the role is bound in one namespace only",
             lambda: [without(f"clusterrolebinding/{ROLE}"), apply(world, binding(ROLE, ROLE, "default"))],
             "may not"),
            ("the role is gone and its binding stays", lambda: without(f"clusterrole/{ROLE}"),
             "(the API server says: RBAC: clusterrole.rbac.authorization.k8s.io"),
        ]
        for what, spoil, says in short:
            self.step(what)
            spoil()
            restart(world)

            def named() -> tuple[Any, Any]:
                _, text = world.readyz()
                mine = f"[-]{TEMPLATE} failed" in text and says in text and "kind: ClusterRoleBinding" in text
                return mine and f"[+]{INSTANCE} ok" in text, text
            world.eventually(f"{TEMPLATE} reports it, with a manifest; {INSTANCE} is ready", named)
            if what == short[0][0]:
                self.step("exactly the printed manifest is applied")
                apply_printed(world, TEMPLATE)
                took = becomes_ready(world)
                self.held(f"ready by itself after {took:.0f} s (it asks every 15)")
                with open(world.manager_log, encoding="utf-8", errors="replace") as f:
                    lines = [l for l in f if "Permissions are missing" in l]
                self.expect("the log had it once", len(lines) == 1, lines)
            without(f"rolebinding/{ROLE}", "-n", "default")
            apply(world, role, bound)

        self.step("grants of other shapes: everything by wildcard; in two roles that are aggregated")
        everything = [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]
        apply(world, {**role, "rules": everything})
        restart(world)
        becomes_ready(world)
        mark = {"e2e.mandate/aggregate": "true"}
        without(f"clusterrole/{ROLE}")
        apply(world, cluster_role("e2e-part-1", role["rules"][:1], mark), cluster_role("e2e-part-2", role["rules"][1:], mark),
              cluster_role(ROLE, [], aggregate=mark))
        world.eventually("kube-controller-manager has aggregated them", lambda: (
            len(world.get("clusterrole", ROLE).get("rules") or []) == len(role["rules"]), "not yet"))
        restart(world)
        becomes_ready(world)
        without(f"clusterrole/{ROLE}", "clusterrole/e2e-part-1", "clusterrole/e2e-part-2")
        apply(world, role)
        restart(world)
        becomes_ready(world)

    def test_a_grant_goes_at_run_time(self) -> None:
        """A grant that is removed at run time is reported as at the start, and the report ends when it is back."""
        world = self.world
        name = f"{BASE}-{INSTANCE}"
        role = bare(world.get("clusterrole", name))
        restart(world, "-v=1")
        world.await_ready()
        apply(world, template(), instance(["default"]))
        scoped(world, "True")

        def told(verb: str, resource: str) -> Any:
            def look() -> tuple[Any, Any]:
                _, text = world.readyz()
                mine = f"[-]{INSTANCE} failed" in text and f"may not {verb} {resource}" in text and "kind: ClusterRole" in text
                return mine and f"[+]{TEMPLATE} ok" in text, text
            return look

        self.step("create of rolebindings is taken out of the role, and a namespace is added to an instance")
        apply(world, without_verb(role, "create", "rolebindings"))
        world.kubectl("patch", "scopeinstance", "e2e", "--type=merge", "-p", '{"spec": {"namespaces": ["default", "kube-public"]}}')
        world.eventually(f"{INSTANCE} reports it, with a manifest; {TEMPLATE} is ready",
                         told("create", "rolebindings.rbac.authorization.k8s.io"))
        self.step("exactly the printed manifest is applied")
        apply_printed(world, INSTANCE)
        self.held(f"ready by itself after {becomes_ready(world):.0f} s")
        scoped(world, "True")

        self.step("watch of namespaces goes, and the server ends its watches")
        apply(world, without_verb(role, "watch", "namespaces"))
        world.kill_apiserver()
        world.eventually(f"{INSTANCE} reports it, with a manifest; {TEMPLATE} is ready", told("watch", "namespaces"))
        self.step("exactly the printed manifest is applied")
        apply_printed(world, INSTANCE)
        self.held(f"ready by itself after {becomes_ready(world):.0f} s")

        self.step("nothing to do")
        falls_silent(self, 20)
        world.kubectl("delete", "scopeinstance/e2e", "scopetemplate/e2e")
        apply(world, role)
