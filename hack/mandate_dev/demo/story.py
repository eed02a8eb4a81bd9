"""Plays the Oria document with kubectl: each step does one thing and states the expected result."""
import json
import os
import random
import time
from collections.abc import Callable
from typing import Any

from mandate_dev import webhooks
from mandate_dev.paths import TOOLS
from mandate_dev.report import Report, StepFailed
from mandate_dev.world import BASE, NAMESPACE, World

SUBJECT = "system:serviceaccount:foo-operator:foo-service-account"
HERE = os.path.join(TOOLS, "demo")


class Story:
    def __init__(self, world: World, report: Report, kill: bool) -> None:
        self.world, self.report, self.kill = world, report, kill
        self.steps = 0

    def act(self, title: str, action: Callable[[], object]) -> None:
        """One step of the administrator. With --kill the manager is killed during the work that follows."""
        self.report.step(title)
        action()
        self.steps += 1
        if not self.kill:
            return
        # With a fixed seed the moments are the same in every run, as far as the machine's timing allows.
        moment = random.Random(self.steps).uniform(0, 0.3)
        time.sleep(moment)
        self.world.kill_manager()
        self.report.held(f"killed the manager after {moment * 1000:.0f} ms, started it again")
        if self.steps % 3 == 1 and self.steps < 8:
            self.world.kill_apiserver()
            self.report.held("killed the API server, started it again")

    def patch_instance(self, spec: dict[str, Any]) -> str:
        return self.world.kubectl("patch", "scopeinstance", "foo", "--type=merge", "-p", json.dumps({"spec": spec}))

    # The expected results.

    def bindings_are(self, namespaces: list[str], in_cluster: bool = False) -> None:
        def look() -> tuple[Any, Any]:
            roles = [b["metadata"]["namespace"] for b in self.world.get("rolebindings", "-A")["items"] if owned(b)]
            cluster = [b for b in self.world.get("clusterrolebindings")["items"] if owned(b)]
            seen = f"RoleBindings in {sorted(roles)}, {len(cluster)} ClusterRoleBindings"
            return sorted(roles) == sorted(namespaces) and len(cluster) == int(in_cluster), seen
        where = f"RoleBindings in {', '.join(namespaces) or 'no namespace'}"
        self.world.eventually(where + (", one ClusterRoleBinding" if in_cluster else ""), look)

    def subject_may(self, allowed: list[str], refused: list[str]) -> None:
        def look() -> tuple[Any, Any]:
            seen = {ns: self.world.can(SUBJECT, "list", "pods", ns) for ns in allowed + refused}
            return seen == {**dict.fromkeys(allowed, True), **dict.fromkeys(refused, False)}, seen
        self.world.eventually(f"{SUBJECT.rsplit(':', 1)[1]} may list pods in {', '.join(allowed) or 'no namespace'}"
                              + (f", not in {', '.join(refused)}" if refused else ""), look)

    def condition_is(self, kind: str, condition: str, status: str) -> None:
        def look() -> tuple[Any, Any]:
            one = self.world.get(kind, "foo")
            found = [c for c in one.get("status", {}).get("conditions", []) if c["type"] == condition]
            good = found and found[0]["status"] == status \
                and found[0]["observedGeneration"] == one["metadata"]["generation"]
            return bool(good), found
        self.world.eventually(f"{kind} foo is {condition}={status}", look)

    def roles_are(self, count: int) -> None:
        def look() -> tuple[Any, Any]:
            roles = [r["metadata"]["name"] for r in self.world.get("clusterroles")["items"] if owned(r)]
            return len(roles) == count, roles
        self.world.eventually(f"{count or 'no'} ClusterRole of the template", look)


def owned(thing: dict[str, Any]) -> bool:
    return any(o["kind"] in ("ScopeInstance", "ScopeTemplate") for o in thing["metadata"].get("ownerReferences", []))


def play(world: World, report: Report, kill: bool) -> None:
    report.section("A ScopeTemplate and its ScopeInstance")
    s = Story(world, report, kill)

    s.act("a ScopeTemplate, and a ScopeInstance for foo and bar (hack/demo/document.yaml)",
          lambda: world.kubectl("apply", "-f", os.path.join(HERE, "document.yaml")))
    s.bindings_are(["foo", "bar"])
    s.roles_are(1)
    s.condition_is("scopetemplate", "Templated", "True")
    s.condition_is("scopeinstance", "Scoped", "True")
    s.subject_may(["foo", "bar"], ["default", "kube-system"])

    s.act("a namespace is added to the list", lambda: (
        world.kubectl("create", "namespace", "baz"), s.patch_instance({"namespaces": ["foo", "bar", "baz"]})))
    s.bindings_are(["foo", "bar", "baz"])
    s.subject_may(["foo", "bar", "baz"], ["default"])

    s.act("a namespace is removed from the list", lambda: s.patch_instance({"namespaces": ["foo", "baz"]}))
    s.bindings_are(["foo", "baz"])
    s.subject_may(["foo", "baz"], ["bar"])

    s.act("a selector as the document writes it, and a namespace with that label", lambda: (
        s.patch_instance({"namespaceSelector": {"fooKey": "barValue"}}),
        world.kubectl("create", "namespace", "labelled"),
        world.kubectl("label", "namespace", "labelled", "fooKey=barValue")))
    s.bindings_are(["foo", "baz", "labelled"])
    s.subject_may(["labelled"], ["bar"])

    s.act("the label is removed", lambda: world.kubectl("label", "namespace", "labelled", "fooKey-"))
    s.bindings_are(["foo", "baz"])
    s.subject_may(["foo"], ["labelled"])

    s.act("a binding is deleted, and another edited, by hand", lambda: meddle(world))
    s.bindings_are(["foo", "baz"])
    s.subject_may(["foo", "baz"], ["bar"])

    s.act("an empty list and no selector: the whole cluster",
          lambda: s.patch_instance({"namespaces": [], "namespaceSelector": None}))
    s.bindings_are([], in_cluster=True)
    s.subject_may(["foo", "bar", "default", "kube-system"], [])

    s.act("a template that calls its role cluster-admin", lambda: world.kubectl(
        "apply", "-f", "-", stdin=json.dumps(GREEDY)))
    s.world.eventually("eve is bound to a role of that template alone", lambda: greedy_has_its_own_role(world))
    world.kubectl("delete", "scopeinstance/greedy", "scopetemplate/greedy")

    s.act("the instance is deleted", lambda: world.kubectl("delete", "scopeinstance", "foo"))
    s.bindings_are([])
    s.roles_are(0)
    s.subject_may([], ["foo", "bar", "default"])


def a_fence_stops(world: World, report: Report) -> None:
    """RBAC allows the binding, but the API server denies it: a thief of scope-instance's identity cannot bind any role.

    This runs after the audit, because the trace reports such requests, which have a foreign user agent."""
    if world.identity_mode == "single":
        return  # in this mode the server does not know which component sent a write
    report.step("an attacker with scope-instance's token: a binding to cluster-admin, which RBAC lets it make")
    who = f"system:serviceaccount:{NAMESPACE}:{BASE}-scope-instance"
    if not world.can(who, "create", "clusterrolebindings", "default"):
        raise StepFailed(report.current, "RBAC to allow it", "no")
    report.held("kubectl auth can-i create clusterrolebindings: yes")

    def stopped() -> tuple[Any, Any]:
        try:
            world.kubectl("create", "clusterrolebinding", "theft", "--clusterrole=cluster-admin", "--user=eve",
                          "--dry-run=server", f"--as={who}")
        except StepFailed as failure:
            return "ValidatingAdmissionPolicy" in failure.seen and "may only" in failure.seen, failure.seen
        return False, "it was made"
    world.eventually("a ValidatingAdmissionPolicy, made from the component's +mandate:fence marker, denies it", stopped)


def nobody_grants_more(world: World, report: Report) -> None:
    """A user who may write ScopeInstances grants nothing that the user does not hold.

    This runs last: it starts the manager again, with the component scope-webhook."""
    report.section("Webhooks")
    report.step("the manager serves its webhooks, with certificates that the component webhook-certificates makes")
    webhooks.serve(world)
    report.step("tina has `edit` in foo, and may create ScopeInstances")
    world.kubectl("create", "rolebinding", "tina", "-n", "foo", "--clusterrole=edit", "--user=tina")
    world.kubectl("create", "clusterrole", "tina", "--verb=create", "--resource=scopeinstances.operators.coreos.com")
    world.kubectl("create", "clusterrolebinding", "tina", "--clusterrole=tina", "--user=tina")
    world.kubectl("apply", "-f", "-", stdin=json.dumps(SECRETS))
    report.held("an administrator makes a ScopeTemplate whose role reads Secrets")

    def tries(what: str, namespaces: list[str], *user: str) -> None:
        made = {**GREEDY["items"][1], "metadata": {"name": "secrets"}, "spec": {"scopeTemplateName": "secrets", "namespaces": namespaces}}

        def look() -> tuple[Any, Any]:
            done = world.cluster.try_kubectl("create", "--dry-run=server", "-f", "-", *user, stdin=json.dumps(made))
            said = done.stdout + done.stderr
            return (done.returncode == 0) if not user or namespaces == ["foo"] else webhooks.NOT_HELD in said, said
        world.eventually(what, look)
    tries("tina grants Secrets of foo, which `edit` includes", ["foo"], "--as=tina")
    tries(f"tina is denied Secrets of bar: {webhooks.NOT_HELD}", ["bar"], "--as=tina")
    tries("tina is denied Secrets of the whole cluster", [], "--as=tina")
    tries("an administrator is allowed", [])
    world.kubectl("delete", "scopetemplate/secrets", "clusterrole/tina", "clusterrolebinding/tina")


def meddle(world: World) -> None:
    names = {b["metadata"]["namespace"]: b["metadata"]["name"]
             for b in world.get("rolebindings", "-A")["items"] if owned(b)}
    if set(names) != {"foo", "baz"}:
        raise StepFailed("a binding is deleted by hand", "bindings in foo and baz", names)
    world.kubectl("delete", "rolebinding", "-n", "foo", names["foo"])
    world.kubectl("patch", "rolebinding", "-n", "baz", names["baz"], "--type=merge", "-p", '{"subjects": []}')


SECRETS = {"apiVersion": "operators.coreos.com/v1alpha1", "kind": "ScopeTemplate", "metadata": {"name": "secrets"},
           "spec": {"clusterRoles": [{
               "generateName": "secrets-", "rules": [{"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"]}],
               "subjects": [{"kind": "User", "name": "tina"}]}]}}
GREEDY: dict[str, Any] = {"apiVersion": "v1", "kind": "List", "items": [
    {"apiVersion": "operators.coreos.com/v1alpha1", "kind": "ScopeTemplate", "metadata": {"name": "greedy"},
     "spec": {"clusterRoles": [{
         "generateName": "cluster-admin", "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}],
         "subjects": [{"kind": "User", "name": "eve"}]}]}},
    {"apiVersion": "operators.coreos.com/v1alpha1", "kind": "ScopeInstance", "metadata": {"name": "greedy"},
     "spec": {"scopeTemplateName": "greedy"}}]}


def greedy_has_its_own_role(world: World) -> tuple[Any, Any]:
    bound = [b["roleRef"]["name"] for b in world.get("clusterrolebindings")["items"]
             if any(s.get("name") == "eve" for s in b.get("subjects", []))]
    return (len(bound) == 1 and bound[0].startswith("scope-template:cluster-admin-") and world.can("eve", "get", "pods", "default")
            and not world.can("eve", "get", "secrets", "default")), f"bound to {bound}"
