"""Upgrades of the chart: components are removed and added, and identity modes and switches change."""
import json
import os
import subprocess
from typing import Any

from mandate_dev.cases.chart.chart_world import ChartCase, RELEASE
from mandate_dev.cases.chart.fences import base_asks_as_the_manager_does
from mandate_dev.cases.chart.theft import log_since, with_token
from mandate_dev.cases.chart.things import ACCOUNT, INSTANCE, TEMPLATE, binding, role, token_request
from mandate_dev.cases.e2e import checks as e2e
from mandate_dev.world import BASE, NAMESPACE


def parts_of(account: str, listed: Any) -> list[Any]:
    """Returns the objects that are removed with a component. Its guards stay, because its objects still exist and its
    names are reserved."""
    return [x for x in listed if account in x and not x.endswith("-guard")]


def the_names_of_one_that_is_cut_off_are_its_own(case: ChartCase, before: Any) -> None:
    world = case.world
    case.step("cutOff: scope-template, whose names scope-instance may bind")
    world.upgrade(cutOff='["scope-template"]')
    case.expect("its fences are gone, its guards are there", {x for x in world.ours() if TEMPLATE in x}
                == {x for x in before if TEMPLATE in x and x.endswith("-guard")} != set(), world.ours())
    world.kubectl("create", "clusterrole", "cut-off-eve", "--verb=create,escalate", "--resource=clusterroles")
    world.kubectl("create", "clusterrolebinding", "cut-off-eve", "--clusterrole=cut-off-eve", "--user=eve")
    try:
        code, said = world.as_user("eve", "create", "--dry-run=server", "-f", "-", stdin=json.dumps(role("scope-template:evil")))
        case.expect("no other user creates a role with its prefix", code != 0 and "may create objects with names of" in said, said)
    finally:
        world.kubectl("delete", "clusterrole/cut-off-eve", "clusterrolebinding/cut-off-eve")
    world.upgrade()
    case.expect("as before", world.ours() == before, world.ours())
    world.await_ready()


def base_is_held_to_the_component_that_it_acts_as(case: ChartCase) -> None:
    world = case.world
    case.step("scope-template is granted what only scope-instance's markers say; base acts as scope-template")
    start = os.path.getsize(world.audit_log)
    world.kubectl("create", "clusterrole", "more", "--verb=create,delete,list,patch", "--resource=rolebindings,namespaces")
    world.kubectl("create", "clusterrolebinding", "more", "--clusterrole=more", f"--serviceaccount={NAMESPACE}:{TEMPLATE}")
    world.kubectl("create", "-f", "-", stdin=json.dumps({**role("nothing", labels={"a": "b"}), "rules": []}))
    with open(world.token_file, encoding="utf-8") as f:
        token = f.read().strip()

    # Otherwise kubectl would request the API's schemas, which base may not read as a component.
    def acts(verb: str, path: str, thing: Any = None) -> Any:
        return with_token(world, token, verb, "--raw", path, *(["-f", "-"] if thing else []),
                          f"--as=system:serviceaccount:{NAMESPACE}:{TEMPLATE}", stdin=json.dumps(thing) if thing else None)
    group = "/apis/rbac.authorization.k8s.io/v1"
    thing = {**binding("nothing", namespace="default"), "kind": "RoleBinding"}
    try:
        # A grant and a policy take effect some time after their creation.
        def denied() -> tuple[Any, Any]:
            code, said = acts("create", f"{group}/namespaces/default/rolebindings", thing)
            return code != 0 and "no marker of component scope-template declares this write" in said, said
        world.eventually("no RoleBinding", denied)
        code, said = acts("create", f"{group}/clusterroles", role(labels={"a": "b"}))
        case.expect("its own fence checks its own writes", code != 0 and "objects that have a controller" in said, said)
        # Admission does not check reads.
        code, said = acts("get", "/api/v1/namespaces")
        case.expect("it reads what scope-instance may", code == 0, said)
        done = subprocess.run([world.rbacgen, "audit", "--json", "--fail-on=none", "--sources=controllers/scope",
                               log_since(world, start)], text=True, capture_output=True)
        found = [f["text"] for f in json.loads(done.stdout)["findings"] if f["kind"] == "undeclared"]
        case.expect("rbacgen audit reports it as undeclared", [text for text in found if "namespaces" in text], done.stdout)
    finally:
        world.kubectl("delete", "clusterrolebinding/more", "clusterrole/more", "clusterrole/nothing")
        world.kubectl("delete", "rolebinding/fence-test", "-n", "default", "--ignore-not-found")


class Upgrades(ChartCase):
    """Tests upgrades of the chart."""

    def test_a_component_is_disabled_and_enabled(self) -> None:
        """Upgrades remove the objects of a disabled component, and restore them."""
        world = self.world
        def minted() -> list[Any]:
            rules = world.get("role", BASE, "-n", NAMESPACE)["rules"]
            return [name for r in rules if r["resources"] == ["serviceaccounts/token"] for name in r["resourceNames"]]
        before, minted_before = world.ours(), minted()
        self.step("controllers: -scope-instance")
        world.upgrade(controllers='["*", "-scope-instance"]')
        left = world.ours()
        gone = [x for x in before if x not in left]
        self.expect(f"gone: {len(gone)} objects", gone and not parts_of(INSTANCE, left)
                    and all(INSTANCE in x for x in gone), {"gone": gone, "left": left})
        self.expect("base may create only the other components' tokens",
                    TEMPLATE in minted() and INSTANCE in minted_before and minted() == [n for n in minted_before if n != INSTANCE],
                    (minted_before, minted()))
        world.restart_manager("--controllers=*,-scope-instance")
        self.step("controllers: *")
        world.upgrade()
        self.expect("as before", world.ours() == before, world.ours())
        self.step("helm rollback, and back")
        world.helm("rollback", RELEASE)
        self.expect("without it", world.ours() == left and minted() == [n for n in minted_before if n != INSTANCE], world.ours())
        world.helm("rollback", RELEASE)
        self.expect("as before", world.ours() == before and minted() == minted_before, world.ours())
        world.restart_manager()

    def test_the_modes(self) -> None:
        """In each identity mode the manager is ready and works with the permissions that the chart grants."""
        world = self.world
        modes: list[tuple[str, dict[str, str]]] = [
            ("impersonate", {"impersonation": "constrained"}), ("impersonate", {"impersonation": "classic"}), ("single", {}),
            ("token", {})]
        for mode, more in modes:
            self.step(" ".join([mode, *more.values()]))
            world.upgrade(identityMode=mode, **more)
            world.identity_mode = mode
            world.restart_manager()
            e2e.apply(world, e2e.template(), e2e.instance(["default"]))
            e2e.scoped(world, "True")
            world.kubectl("delete", "scopeinstance/e2e", "scopetemplate/e2e")
            world.eventually("and it revokes", lambda: (not world.get("rolebindings", "-n", "default")["items"], "not yet"))
            if more.get("impersonation") == "constrained":
                base = f"system:serviceaccount:{NAMESPACE}:{BASE}"
                for verb, resource in (("impersonate", "serviceaccounts"), ("create", "clusterroles")):
                    self.expect(f"base may not {verb} {resource}", not world.can(base, verb, resource, NAMESPACE), "it may")
                base_is_held_to_the_component_that_it_acts_as(self)

    def test_some_namespaces(self) -> None:
        """watchNamespaces takes the components' permissions on namespaced kinds in all other namespaces, and gives them back."""
        world = self.world
        before = world.ours()
        places = {"watched": "--namespace=watched", "other": "--namespace=other", "everywhere": "--all-namespaces"}
        def may(verb: str, resource: str) -> list[str]:
            return [place for place, flag in places.items() if world.as_component(INSTANCE, "auth", "can-i", verb, resource, flag)[0] == 0]
        def bindings() -> list[str]:
            return may("create", "rolebindings.rbac.authorization.k8s.io")
        for namespace in ("watched", "other"):
            world.kubectl("create", "namespace", namespace)
        self.step("watchNamespaces: watched, default")
        world.upgrade(watchNamespaces='["watched", "default"]')
        world.eventually("scope-instance writes RoleBindings there alone", lambda: (bindings() == ["watched"], bindings()))
        for resource in ("scopeinstances.operators.coreos.com", "clusterrolebindings.rbac.authorization.k8s.io", "namespaces"):
            self.expect(f"and lists {resource} everywhere", "everywhere" in may("list", resource), may("list", resource))
        world.restart_manager("--watch-namespaces=watched,default")
        e2e.apply(world, e2e.template(), e2e.instance(["watched"]))
        e2e.scoped(world, "True")
        self.held("the manager is ready, and grants in a watched namespace")
        e2e.apply(world, e2e.instance(["watched", "other"]))
        e2e.scoped(world, "False")
        seen = e2e.condition(world, "scopeinstance", "e2e", "Scoped")
        self.expect("the condition names the other one", "namespace other is not one of those" in seen["message"], seen)
        self.expect("and the first keeps its binding", world.get("rolebindings", "-n", "watched")["items"], "none")
        world.kubectl("delete", "scopeinstance/e2e", "scopetemplate/e2e")
        self.step("watchNamespaces: watched")
        world.upgrade(watchNamespaces='["watched"]')
        self.expect("the binding of the other is gone", not world.get("rolebindings", "-n", "default")["items"],
                    world.get("rolebindings", "-n", "default"))
        self.step("watchNamespaces: all")
        world.upgrade()
        self.expect("as before", world.ours() == before, world.ours())
        world.eventually("scope-instance writes RoleBindings everywhere", lambda: (bindings() == [*places], bindings()))
        world.restart_manager()
        world.kubectl("delete", "namespace", "watched", "other")

    def test_the_switches(self) -> None:
        """Kill switches, flow schemas, the audit policy and the right to create ServiceAccounts are added and
        removed."""
        world = self.world
        self.step("on")
        world.upgrade(killSwitch="true", flowSchemas="true", auditPolicy="true", createServiceAccounts="true")
        wanted = [f"Secret/{INSTANCE}", f"Secret/{TEMPLATE}", f"FlowSchema/{BASE}", f"PriorityLevelConfiguration/{BASE}",
                  f"ConfigMap/{BASE}-audit-policy", f"Role/{BASE}-create-service-accounts"]
        self.expect(", ".join(wanted), set(wanted) <= set(world.ours()), world.ours())
        world.eventually("the server follows the flow schema", lambda: (
            any(c["type"] == "Dangling" and c["status"] == "False"
                for c in world.get("flowschema", BASE).get("status", {}).get("conditions", [])), "dangling"))
        # A policy takes effect some time after it was changed.
        world.eventually("the policy asks for the Secret", lambda: (
            world.as_component(BASE, "create", "--raw", ACCOUNT, "-f", "-", stdin=token_request())[0] != 0, "a token"))
        base_asks_as_the_manager_does(self, kill_switch=True)
        self.step("off")
        world.upgrade()
        self.expect("gone", not set(wanted) & set(world.ours()), world.ours())

    def test_a_component_is_cut_off(self) -> None:
        """cutOff stops a component without a restart, survives an upgrade, and can be undone."""
        world = self.world
        before = world.ours()
        self.step("cutOff: scope-instance")
        world.upgrade(cutOff='["scope-instance"]')
        left = world.ours()
        self.expect(f"{len(before) - len(left)} objects are gone, all of them objects of the component",
                    len(left) < len(before) and not parts_of(INSTANCE, left), left)
        notes = world.helm("get", "notes", RELEASE)
        self.expect("the notes describe it", "cutOff=" in notes, notes)
        code, said = world.as_component(INSTANCE, "auth", "can-i", "list", "scopeinstances.operators.coreos.com")
        self.expect("nothing is granted to it", code != 0, said)
        # Its watches stay open until it sends another request.
        e2e.apply(world, e2e.template(), e2e.instance(["default"]))
        world.eventually("readiness reports it", lambda: (INSTANCE in world.readyz()[1], world.readyz()[1]))
        world.eventually("the other component works", lambda: (
            e2e.condition(world, "scopetemplate", "e2e", "Templated").get("status") == "True", "not Templated"))
        self.expect("and it wrote nothing", not world.get("rolebindings", "-n", "default")["items"], "it did")
        self.step("another upgrade")
        world.upgrade(cutOff='["scope-instance"]', auditPolicy="true")
        self.expect("it stays cut off", not parts_of(INSTANCE, world.ours()), world.ours())
        self.step("another upgrade, and a manager that may create ServiceAccounts")
        world.upgrade(cutOff='["scope-instance"]', createServiceAccounts="true")
        world.stop_manager()
        world.start_manager("-v=1", "--create-service-accounts")
        world.eventually("its token request is denied", lambda: (
            f"may not request a token of ServiceAccount {NAMESPACE}/{INSTANCE}" in world.readyz()[1], world.readyz()[1]))
        self.expect("it stays cut off", not parts_of(INSTANCE, world.ours()), world.ours())
        self.expect("and it wrote nothing", not world.get("rolebindings", "-n", "default")["items"], "it did")
        world.upgrade(cutOff='["scope-instance"]')
        world.stop_manager()
        world.start_manager("-v=1")
        self.step("cutOff: no component")
        world.upgrade()
        self.expect("as before", world.ours() == before, world.ours())
        e2e.scoped(world, "True")
        world.kubectl("delete", "scopeinstance/e2e", "scopetemplate/e2e")
        world.await_ready()
        the_names_of_one_that_is_cut_off_are_its_own(self, before)
