"""What docs/scope.md promises, on a real API server. Each check leaves the cluster as it found it."""
import json

from mandate_dev.cases.e2e.checks import apply, condition, expect, instance, scoped, template


def generated(env, kind, *where):
    return [o for o in env.get(kind, *where)["items"]
            if any(label.startswith("operators.coreos.io/") for label in o["metadata"].get("labels", {}))]


def only(env, kind, *where):
    """The generated object of this kind."""
    found = generated(env, kind, *where)
    return found[0] if len(found) == 1 else None


def patch(env, kind, name, change, *where):
    env.kubectl("patch", kind, name, *where, "--type=merge", "-p", json.dumps(change))


def reason(env, kind, wanted, name="e2e"):
    def look():
        seen = condition(env, kind, name, "Templated" if kind == "scopetemplate" else "Scoped")
        return seen.get("reason") == wanted, seen
    env.eventually(f"{kind} {name}: {wanted}", look)


def clean(env, *more):
    env.kubectl("delete", "scopeinstance/e2e", "scopetemplate/e2e", *more)
    env.eventually("the generated role is gone", lambda: (not generated(env, "clusterroles"), "it is there"))


def roles_are_what_the_template_says(env, report):
    """rules: [] empties a role; an aggregationRule and a label that others put onto it are removed."""
    report.step("a role, and what others do to it")
    apply(env, template(), instance(["default"]))
    scoped(env, "True")
    good = only(env, "clusterroles")
    name = good["metadata"]["name"]
    for change in ({"metadata": {"labels": {"rbac.authorization.k8s.io/aggregate-to-view": "true"}}},
                   {"aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"e2e": "none"}}]}},
                   {"rules": [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]}):
        patch(env, "clusterrole", name, change)

        def restored():
            seen = env.get("clusterrole", name)
            same = (seen.get("rules") == good["rules"] and "aggregationRule" not in seen
                    and seen["metadata"]["labels"] == good["metadata"]["labels"])
            return same, seen
        env.eventually(f"{next(iter(change))}: undone", restored)
    report.step("rules: []")
    emptied = template()
    emptied["spec"]["clusterRoles"][0]["rules"] = []
    apply(env, emptied)
    env.eventually("the role has no rules", lambda: (not env.get("clusterrole", name).get("rules"), "it has"))
    reason(env, "scopetemplate", "TemplatingSuccessful")
    scoped(env, "True")
    clean(env)


def revocation_never_waits(env, report):
    """Narrowing takes effect although the template has failed; what others keep is reported."""
    report.step("a grant in the cluster, and a template that fails")
    everywhere = instance([])
    apply(env, template(), everywhere)
    scoped(env, "True")
    env.kubectl("create", "clusterrole", "scope-template:e2e-foreign", "--verb=get", "--resource=pods")
    failing = template()
    failing["spec"]["clusterRoles"].append({"generateName": "e2e-foreign", "rules": [],
                                            "subjects": [{"kind": "User", "name": "ann"}]})
    apply(env, failing)
    reason(env, "scopetemplate", "TemplatingFailed")
    apply(env, instance(["default"]))
    env.eventually("the ClusterRoleBinding is gone",
                   lambda: (not generated(env, "clusterrolebindings"), "it is there"))
    env.kubectl("delete", "clusterrole", "scope-template:e2e-foreign")
    apply(env, template())
    scoped(env, "True")
    report.step("a namespace's administrator takes the binding, and the scope is narrowed")
    binding = only(env, "rolebindings", "-n", "default")["metadata"]["name"]
    holder = env.get("configmap", "kube-root-ca.crt", "-n", "default")["metadata"]
    patch(env, "rolebinding", binding, {"metadata": {"ownerReferences": [
        {"apiVersion": "v1", "kind": "ConfigMap", "name": holder["name"], "uid": holder["uid"],
         "controller": True}]}}, "-n", "default")
    apply(env, instance(["kube-public"]))
    reason(env, "scopeinstance", "RevocationPending")
    seen = condition(env, "scopeinstance", "e2e", "Scoped")
    expect(report, "the condition names the binding", binding in seen["message"], seen)
    env.kubectl("delete", "rolebinding", binding, "-n", "default")
    scoped(env, "True")
    clean(env)


ALL = [roles_are_what_the_template_says, revocation_never_waits]
