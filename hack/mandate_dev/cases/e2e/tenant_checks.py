"""Attacks by users who have some rights in the cluster, with their own tokens. Each check leaves the cluster as it found it."""
import json
import os
import re
import subprocess

from mandate_dev.cases.e2e.checks import apply, condition, expect, instance, scoped, template
from mandate_dev.cases.e2e.grants import restart
from mandate_dev.cases.e2e.scope_checks import clean, generated, only, patch, reason
from mandate_dev.world import LOADED

MEMORY_MIB = 128


class Tenant:
    """A ServiceAccount, in a namespace of its name, with exactly these rights; and kubectl with its token alone."""

    def __init__(self, env, name, *rights):
        self._env, self.name = env, name
        env.kubectl("create", "namespace", name)
        env.kubectl("create", "serviceaccount", name, "-n", name)
        for verbs, resources in rights:
            env.kubectl("create", "clusterrole", name, f"--verb={verbs}", f"--resource={resources}")
            env.kubectl("create", "clusterrolebinding", name, f"--clusterrole={name}", f"--serviceaccount={name}:{name}")
        token = env.kubectl("create", "token", name, "-n", name).strip()
        with open(env.manager_kubeconfig, encoding="utf-8") as f:
            config = json.load(f)
        config["users"][0]["user"] = {"token": token}
        self._kubeconfig = os.path.join(env.folder, f"{name}.kubeconfig")
        env.write_private(self._kubeconfig, json.dumps(config))

    def kubectl(self, *arguments, stdin=None):
        """(exit code, what it says)."""
        done = subprocess.run([os.path.join(self._env.kubectl_folder, "kubectl"), *arguments], input=stdin, text=True,
                              capture_output=True, env={**os.environ, "KUBECONFIG": self._kubeconfig})
        return done.returncode, done.stdout + done.stderr

    def patch(self, change, kind, name, *where):
        return self.kubectl("patch", kind, name, *where, "--type=merge", "-p", json.dumps(change))

    def leave(self):
        self._env.kubectl("delete", "--ignore-not-found", "--wait=false", f"clusterrolebinding/{self.name}", f"clusterrole/{self.name}",
                          f"namespace/{self.name}")


def a_deep_selector_stops_nobody(env, report):
    """A ScopeInstance that nests too deep to be read is denied by the API server; templates still revoke."""
    tenant = Tenant(env, "e2e-inst", ("*", "scopeinstances.operators.coreos.com"))
    apply(env, template(), instance(["default"]))
    scoped(env, "True")
    report.step("a tenant's selector, 600 deep")
    deep = instance([], "e2e-deep")
    place = deep["spec"]
    for key in ["namespaceSelector", *["a"] * 600]:
        place[key] = {}
        place = place[key]
    # Without kubectl's own validation.
    code, said = tenant.kubectl("create", "--validate=false", "-f", "-", stdin=json.dumps(deep))
    expect(report, "the schema denies it", code != 0 and "is invalid" in said and "namespaceSelector" in said, said)
    fits = instance([], "e2e-deep")
    fits["spec"]["namespaceSelector"] = {"e2e": "none"}
    code, said = tenant.kubectl("create", "--validate=false", "-f", "-", stdin=json.dumps(fits))
    expect(report, "another of the tenant's is admitted", code == 0, said)
    code, said = tenant.patch({"spec": deep["spec"]}, "scopeinstance", "e2e-deep")
    expect(report, "not as an edit either", code != 0 and "is invalid" in said, said)
    report.step("the template loses a verb")
    role = only(env, "clusterroles")["metadata"]["name"]
    less = template()
    less["spec"]["clusterRoles"][0]["rules"][0]["verbs"] = ["list"]
    apply(env, less)
    env.eventually("its role too", lambda: (
        (rules := env.get("clusterrole", role)["rules"])[0]["verbs"] == ["list"], rules))
    expect(report, "ready", env.is_ready()[0], env.readyz())
    env.kubectl("delete", "scopeinstance/e2e-deep")
    clean(env)
    tenant.leave()


def a_namespaces_administrator_keeps_nothing(env, report):
    """Who administers a namespace cannot keep our RoleBinding there by its owner, its label or a finalizer."""
    tenant = Tenant(env, "e2e-nsadmin")
    place = tenant.name
    env.kubectl("create", "rolebinding", "e2e-nsadmin", "-n", place, "--clusterrole=admin",
                f"--serviceaccount={place}:e2e-nsadmin")
    code, said = tenant.kubectl("create", "configmap", "e2e-hold", "-n", place)
    expect(report, "the tenant administers the namespace", code == 0, said)
    hold = env.get("configmap", "e2e-hold", "-n", place)["metadata"]["uid"]
    apply(env, template(), instance([place]))
    scoped(env, "True")
    binding = only(env, "rolebindings", "-n", place)["metadata"]["name"]
    report.step("edits of our RoleBinding there")
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "e2e-hold", "uid": hold, "controller": True}
    code, said = tenant.patch({"metadata": {"annotations": {"e2e": "x"}}}, "rolebinding", binding, "-n", place)
    expect(report, "RBAC lets the tenant edit it", code == 0, said)
    for what, change, says in (
            ("another owner", {"ownerReferences": [owner]}, "may change the owners"),
            ("no owner", {"ownerReferences": None}, "may change the owners"),
            ("no label", {"labels": {"operators.coreos.io/scopeInstanceUID": None}}, "may change its labels"),
            ("a finalizer", {"finalizers": ["e2e.example.com/stay"]}, "may add finalizers")):
        code, said = tenant.patch({"metadata": change}, "rolebinding", binding, "-n", place)
        expect(report, f"not {what}", code != 0 and "ValidatingAdmissionPolicy" in said and says in said, said)
    report.step("the namespace leaves the scope")
    apply(env, instance(["default"]))
    env.eventually("the RoleBinding is gone",
                   lambda: (not generated(env, "rolebindings", "-n", place), "it is there"))
    scoped(env, "True")
    clean(env)
    tenant.leave()


def a_label_makes_nothing_ours(env, report):
    """A foreign ClusterRoleBinding with the label of an instance is not deleted for a user who may only patch it."""
    tenant = Tenant(env, "e2e-patcher", ("get,list,patch", "clusterrolebindings.rbac.authorization.k8s.io"))
    # The rules of this role everybody has: the API server lets the tenant edit its bindings.
    env.kubectl("create", "clusterrolebinding", "e2e-foreign", "--clusterrole=system:discovery", "--user=ann")
    apply(env, template(), instance(["default"]))
    scoped(env, "True")
    uid = env.get("scopeinstance", "e2e")["metadata"]["uid"]
    report.step("a tenant labels a foreign ClusterRoleBinding with the instance's UID")
    code, said = tenant.kubectl("delete", "clusterrolebinding", "e2e-foreign")
    expect(report, "the tenant may not delete it", code != 0 and "Forbidden" in said, said)
    label = {"metadata": {"labels": {"operators.coreos.io/scopeInstanceUID": uid}}}
    code, said = tenant.patch(label, "clusterrolebinding", "e2e-foreign")
    expect(report, "and may label it", code == 0, said)
    report.step("the instance is reconciled")
    apply(env, instance(["kube-public"]))
    env.eventually("what left its scope is gone",
                   lambda: (not generated(env, "rolebindings", "-n", "default"), "it is there"))
    scoped(env, "True")
    seen = env.get("clusterrolebinding", "e2e-foreign")["metadata"]
    expect(report, "the foreign binding stays", "deletionTimestamp" not in seen, seen)
    env.kubectl("delete", "scopeinstance/e2e")
    env.eventually("its RoleBinding is gone", lambda: (not generated(env, "rolebindings", "-n", "kube-public"), "it is there"))
    seen = env.get("clusterrolebinding", "e2e-foreign")["metadata"]
    expect(report, "also when the instance is deleted", "deletionTimestamp" not in seen, seen)
    env.kubectl("delete", "clusterrolebinding/e2e-foreign", "scopetemplate/e2e")
    env.eventually("the generated role is gone", lambda: (not generated(env, "clusterroles"), "it is there"))
    tenant.leave()


def a_terminating_instance_grants_nothing(env, report):
    """A finalizer on a ScopeInstance does not keep what it granted, while another keeps the role."""
    apply(env, template(), instance(["default"]), instance(["kube-public"], "e2e-other"))
    scoped(env, "True")
    scoped(env, "True", "e2e-other")
    report.step("an instance that is being deleted, and a finalizer that keeps it")
    patch(env, "scopeinstance", "e2e", {"metadata": {"finalizers": ["e2e.example.com/stay"]}})
    env.kubectl("delete", "scopeinstance", "e2e", "--wait=false")
    env.eventually("its RoleBinding is gone", lambda: (not generated(env, "rolebindings", "-n", "default"), "it is there"))
    expect(report, "ann may do nothing there", not env.can("ann", "get", "pods", "default"), "she may")
    reason(env, "scopeinstance", "ScopeInstanceTerminating")
    report.step("its scope is edited")
    patch(env, "scopeinstance", "e2e", {"spec": {"namespaces": ["default", "kube-system"]}})
    env.eventually("that is reported", lambda: (
        (seen := condition(env, "scopeinstance", "e2e", "Scoped")).get("observedGeneration")
        == env.get("scopeinstance", "e2e")["metadata"]["generation"], seen))
    found = generated(env, "rolebindings", "-A")
    expect(report, "only the other instance grants",
           [b["metadata"]["namespace"] for b in found] == ["kube-public"], found)
    expect(report, "which is so for ann", env.can("ann", "get", "pods", "kube-public"), "she may not")
    patch(env, "scopeinstance", "e2e", {"metadata": {"finalizers": None}})
    env.kubectl("delete", "scopeinstance/e2e-other", "scopetemplate/e2e")
    env.eventually("the generated role is gone", lambda: (not generated(env, "clusterroles"), "it is there"))


def high_water(env):
    """The most memory that the manager has had, in MiB."""
    with open(f"/proc/{env.manager_pid()}/status", encoding="utf-8") as f:
        return int(re.search(r"^VmHWM:\s+(\d+) kB$", f.read(), re.M).group(1)) // 1024


def absent_names_cost_little(env, report):
    """100 roles in 10,000 namespaces that do not exist: little memory, and others' revocations do not wait."""
    restart(env)
    env.await_ready()
    before = high_water(env)
    apply(env, template(), instance(["default", "kube-public"]))
    scoped(env, "True")
    report.step("a hundred roles and ten thousand names")
    many = template("e2e-many")
    many["spec"]["clusterRoles"] = [dict(many["spec"]["clusterRoles"][0], generateName=f"e2e-many-{i}-") for i in range(100)]
    names = instance([f"absent-{i:05}" for i in range(10000)], "e2e-many", "e2e-many")
    # Not applied: kubectl would write it all into an annotation, which is bounded.
    env.kubectl("create", "-f", "-", stdin=json.dumps(many))
    env.kubectl("create", "-f", "-", stdin=json.dumps(names))
    env.eventually("the missing namespaces are reported", lambda: (
        (seen := condition(env, "scopeinstance", "e2e-many", "Scoped")).get("status") == "False"
        and "absent-" in seen.get("message", ""), seen))
    report.step("meanwhile another instance is narrowed")
    # Each wakes the one with the names.
    patch(env, "scopetemplate", "e2e-many", {"metadata": {"annotations": {"e2e": "poke"}}})
    apply(env, instance(["default"]))
    env.eventually("the RoleBinding is gone", lambda: (not generated(env, "rolebindings", "-n", "kube-public"), "it is there"),
                   patience=10 + LOADED)
    peak = high_water(env)
    expect(report, f"{before} MiB before, {peak} MiB at most", peak < MEMORY_MIB, peak)
    env.kubectl("delete", "scopeinstance/e2e-many")
    env.eventually("its roles are gone", lambda: ((n := len(generated(env, "clusterroles"))) == 1, n))
    clean(env, "scopetemplate/e2e-many")


ALL = [a_deep_selector_stops_nobody, a_namespaces_administrator_keeps_nothing, a_label_makes_nothing_ours,
       a_terminating_instance_grants_nothing, absent_names_cost_little]
