"""Attacks by users who have some rights in the cluster, with their own tokens. Each check restores the cluster's
state."""
import json
import os
import re
from typing import Any

from mandate_dev.cases import WorldCase
from mandate_dev.cases.e2e.checks import apply, condition, instance, scoped, template
from mandate_dev.cases.e2e.grants import restart
from mandate_dev.cases.e2e.scope_checks import clean, generated, only, patch, reason
from mandate_dev.world import LOADED, World

MEMORY_MIB = 128


class Tenant:
    """A ServiceAccount, in a namespace of the same name, with exactly these rights; it calls kubectl with only its
    token."""

    def __init__(self, world: World, name: str, *rights: Any) -> None:
        self._world, self.name = world, name
        world.kubectl("create", "namespace", name)
        world.kubectl("create", "serviceaccount", name, "-n", name)
        for verbs, resources in rights:
            world.kubectl("create", "clusterrole", name, f"--verb={verbs}", f"--resource={resources}")
            world.kubectl("create", "clusterrolebinding", name, f"--clusterrole={name}", f"--serviceaccount={name}:{name}")
        token = world.kubectl("create", "token", name, "-n", name).strip()
        with open(world.manager_kubeconfig, encoding="utf-8") as f:
            config = json.load(f)
        config["users"][0]["user"] = {"token": token}
        self._kubeconfig = os.path.join(world.folder, f"{name}.kubeconfig")
        world.write_private(self._kubeconfig, json.dumps(config))

    def kubectl(self, *arguments: str, stdin: str | None = None) -> tuple[int, str]:
        """(exit code, output)"""
        done = self._world.cluster.try_kubectl(*arguments, stdin=stdin, kubeconfig=self._kubeconfig)
        return done.returncode, done.stdout + done.stderr

    def patch(self, change: Any, kind: str, name: str, *where: str) -> tuple[int, str]:
        return self.kubectl("patch", kind, name, *where, "--type=merge", "-p", json.dumps(change))

    def leave(self) -> None:
        self._world.kubectl("delete", "--ignore-not-found", "--wait=false", f"clusterrolebinding/{self.name}", f"clusterrole/{self.name}",
                            f"namespace/{self.name}")


def high_water(world: World) -> int:
    """Returns the manager's peak memory in MiB."""
    with open(f"/proc/{world.manager_pid()}/status", encoding="utf-8") as f:
        return int(re.findall(r"^VmHWM:\s+(\d+) kB$", f.read(), re.M)[0]) // 1024


class Tenants(WorldCase):
    """Attacks by users who have some rights in the cluster."""

    def test_a_deep_selector_stops_nobody(self) -> None:
        """A ScopeInstance that nests too deep to be read is denied by the API server; templates still revoke."""
        world = self.world
        tenant = Tenant(world, "e2e-inst", ("*", "scopeinstances.operators.coreos.com"))
        apply(world, template(), instance(["default"]))
        scoped(world, "True")
        self.step("a tenant's selector, 600 deep")
        deep = instance([], "e2e-deep")
        place = deep["spec"]
        for key in ["namespaceSelector", *["a"] * 600]:
            place[key] = {}
            place = place[key]
        # Without kubectl's own validation.
        code, said = tenant.kubectl("create", "--validate=false", "-f", "-", stdin=json.dumps(deep))
        self.expect("the schema denies it", code != 0 and "is invalid" in said and "namespaceSelector" in said, said)
        fits = instance([], "e2e-deep")
        fits["spec"]["namespaceSelector"] = {"e2e": "none"}
        code, said = tenant.kubectl("create", "--validate=false", "-f", "-", stdin=json.dumps(fits))
        self.expect("another instance of the tenant is admitted", code == 0, said)
        code, said = tenant.patch({"spec": deep["spec"]}, "scopeinstance", "e2e-deep")
        self.expect("an edit to it is denied, too", code != 0 and "is invalid" in said, said)
        self.step("the template loses a verb")
        role = only(world, "clusterroles")["metadata"]["name"]
        less = template()
        less["spec"]["clusterRoles"][0]["rules"][0]["verbs"] = ["list"]
        apply(world, less)
        world.eventually("its role too", lambda: (
            (rules := world.get("clusterrole", role)["rules"])[0]["verbs"] == ["list"], rules))
        self.expect("ready", world.is_ready()[0], world.readyz())
        world.kubectl("delete", "scopeinstance/e2e-deep")
        clean(world)
        tenant.leave()

    def test_a_namespaces_administrator_keeps_nothing(self) -> None:
        """An administrator of a namespace cannot keep our RoleBinding there by changing its owner or label, or with a
        finalizer."""
        world = self.world
        tenant = Tenant(world, "e2e-nsadmin")
        place = tenant.name
        world.kubectl("create", "rolebinding", "e2e-nsadmin", "-n", place, "--clusterrole=admin",
                      f"--serviceaccount={place}:e2e-nsadmin")
        code, said = tenant.kubectl("create", "configmap", "e2e-hold", "-n", place)
        self.expect("the tenant administers the namespace", code == 0, said)
        hold = world.get("configmap", "e2e-hold", "-n", place)["metadata"]["uid"]
        apply(world, template(), instance([place]))
        scoped(world, "True")
        binding = only(world, "rolebindings", "-n", place)["metadata"]["name"]
        self.step("edits of our RoleBinding there")
        owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "e2e-hold", "uid": hold, "controller": True}
        code, said = tenant.patch({"metadata": {"annotations": {"e2e": "x"}}}, "rolebinding", binding, "-n", place)
        self.expect("RBAC lets the tenant edit it", code == 0, said)
        for what, change, says in (
                ("another owner", {"ownerReferences": [owner]}, "may change the owners"),
                ("no owner", {"ownerReferences": None}, "may change the owners"),
                ("no label", {"labels": {"operators.coreos.io/scopeInstanceUID": None}}, "may change its labels"),
                ("a finalizer", {"finalizers": ["e2e.example.com/stay"]}, "may add finalizers")):
            code, said = tenant.patch({"metadata": change}, "rolebinding", binding, "-n", place)
            self.expect(f"not {what}", code != 0 and "ValidatingAdmissionPolicy" in said and says in said, said)
        self.step("the namespace leaves the scope")
        apply(world, instance(["default"]))
        world.eventually("the RoleBinding is gone",
                         lambda: (not generated(world, "rolebindings", "-n", place), "it is there"))
        scoped(world, "True")
        clean(world)
        tenant.leave()

    def test_a_label_does_not_give_ownership(self) -> None:
        """A foreign ClusterRoleBinding with the label of an instance is not deleted on behalf of a user with permission only to patch it."""
        world = self.world
        tenant = Tenant(world, "e2e-patcher", ("get,list,patch", "clusterrolebindings.rbac.authorization.k8s.io"))
        # Every user has the rules of this role, so the API server allows the tenant to edit its bindings.
        world.kubectl("create", "clusterrolebinding", "e2e-foreign", "--clusterrole=system:discovery", "--user=ann")
        apply(world, template(), instance(["default"]))
        scoped(world, "True")
        uid = world.get("scopeinstance", "e2e")["metadata"]["uid"]
        self.step("a tenant labels a foreign ClusterRoleBinding with the instance's UID")
        code, said = tenant.kubectl("delete", "clusterrolebinding", "e2e-foreign")
        self.expect("the tenant may not delete it", code != 0 and "Forbidden" in said, said)
        label = {"metadata": {"labels": {"operators.coreos.io/scopeInstanceUID": uid}}}
        code, said = tenant.patch(label, "clusterrolebinding", "e2e-foreign")
        self.expect("the tenant may label it", code == 0, said)
        self.step("the instance is reconciled")
        apply(world, instance(["kube-public"]))
        world.eventually("the binding outside of its scope is gone",
                         lambda: (not generated(world, "rolebindings", "-n", "default"), "it is there"))
        scoped(world, "True")
        seen = world.get("clusterrolebinding", "e2e-foreign")["metadata"]
        self.expect("the foreign binding stays", "deletionTimestamp" not in seen, seen)
        world.kubectl("delete", "scopeinstance/e2e")
        world.eventually("its RoleBinding is gone", lambda: (not generated(world, "rolebindings", "-n", "kube-public"), "it is there"))
        seen = world.get("clusterrolebinding", "e2e-foreign")["metadata"]
        self.expect("also when the instance is deleted", "deletionTimestamp" not in seen, seen)
        world.kubectl("delete", "clusterrolebinding/e2e-foreign", "scopetemplate/e2e")
        world.eventually("the generated role is gone", lambda: (not generated(world, "clusterroles"), "it is there"))
        tenant.leave()

    def test_a_terminating_instance_grants_nothing(self) -> None:
        """A finalizer on a ScopeInstance does not keep its grants, while another instance keeps the role."""
        world = self.world
        apply(world, template(), instance(["default"]), instance(["kube-public"], "e2e-other"))
        scoped(world, "True")
        scoped(world, "True", "e2e-other")
        self.step("an instance that is being deleted, and a finalizer that keeps it")
        patch(world, "scopeinstance", "e2e", {"metadata": {"finalizers": ["e2e.example.com/stay"]}})
        world.kubectl("delete", "scopeinstance", "e2e", "--wait=false")
        world.eventually("its RoleBinding is gone", lambda: (not generated(world, "rolebindings", "-n", "default"), "it is there"))
        self.expect("ann may do nothing there", not world.can("ann", "get", "pods", "default"), "she may")
        reason(world, "scopeinstance", "ScopeInstanceTerminating")
        self.step("its scope is edited")
        patch(world, "scopeinstance", "e2e", {"spec": {"namespaces": ["default", "kube-system"]}})
        world.eventually("the condition reports it", lambda: (
            (seen := condition(world, "scopeinstance", "e2e", "Scoped")).get("observedGeneration")
            == world.get("scopeinstance", "e2e")["metadata"]["generation"], seen))
        found = generated(world, "rolebindings", "-A")
        self.expect("only the other instance grants",
                    [b["metadata"]["namespace"] for b in found] == ["kube-public"], found)
        self.expect("ann may do so there", world.can("ann", "get", "pods", "kube-public"), "she may not")
        patch(world, "scopeinstance", "e2e", {"metadata": {"finalizers": None}})
        world.kubectl("delete", "scopeinstance/e2e-other", "scopetemplate/e2e")
        world.eventually("the generated role is gone", lambda: (not generated(world, "clusterroles"), "it is there"))

    def test_absent_namespaces_cost_little_memory(self) -> None:
        """100 roles in 10,000 namespaces that do not exist use little memory, and do not delay the revocations of other
        users."""
        world = self.world
        restart(world)
        world.await_ready()
        before = high_water(world)
        apply(world, template(), instance(["default", "kube-public"]))
        scoped(world, "True")
        self.step("a hundred roles and ten thousand names")
        many = template("e2e-many")
        many["spec"]["clusterRoles"] = [dict(many["spec"]["clusterRoles"][0], generateName=f"e2e-many-{i}-") for i in range(100)]
        names = instance([f"absent-{i:05}" for i in range(10000)], "e2e-many", "e2e-many")
        # The object is created, not applied: kubectl apply would copy it into an annotation, whose size is limited.
        world.kubectl("create", "-f", "-", stdin=json.dumps(many))
        world.kubectl("create", "-f", "-", stdin=json.dumps(names))
        world.eventually("the missing namespaces are reported", lambda: (
            (seen := condition(world, "scopeinstance", "e2e-many", "Scoped")).get("status") == "False"
            and "absent-" in seen.get("message", ""), seen))
        self.step("meanwhile another instance is narrowed")
        # Each causes a reconcile of the instance with the names.
        patch(world, "scopetemplate", "e2e-many", {"metadata": {"annotations": {"e2e": "poke"}}})
        apply(world, instance(["default"]))
        world.eventually("the RoleBinding is gone", lambda: (not generated(world, "rolebindings", "-n", "kube-public"), "it is there"),
                         patience=10 + LOADED)
        peak = high_water(world)
        self.expect(f"{before} MiB before, {peak} MiB at most", peak < MEMORY_MIB, peak)
        world.kubectl("delete", "scopeinstance/e2e-many")
        world.eventually("its roles are gone", lambda: ((n := len(generated(world, "clusterroles"))) == 1, n))
        clean(world, "scopetemplate/e2e-many")
