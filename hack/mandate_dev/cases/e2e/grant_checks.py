"""The checks of hack/e2e/run about what a component may do. Each leaves the cluster as it found it."""
import urllib.error
import urllib.request

from mandate_dev.cases.e2e.checks import INSTANCE, TEMPLATE, apply, expect, falls_silent, instance, scoped, template
from mandate_dev.cases.e2e.grants import ROLE, bare, becomes_ready, binding, cluster_role, restart
from mandate_dev.world import BASE


def apply_printed(env, component):
    """What /readyz/COMPONENT says to apply: all but its first line."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{env.health_port}/readyz/{component}", timeout=30) as answer:
            text = answer.read().decode()
    except urllib.error.HTTPError as error:
        text = error.read().decode()
    env.kubectl("apply", "-f", "-", stdin=text.partition("\n")[2])


def without_verb(role, verb, resource):
    """The role, of which one verb of one resource has been taken away by hand."""
    rules = []
    for rule in role["rules"]:
        if verb not in rule.get("verbs", []) or resource not in rule.get("resources", []):
            rules.append(rule)
            continue
        others = [r for r in rule["resources"] if r != resource]
        rules += [{**rule, "resources": others}] if others else []
        rules.append({**rule, "resources": [resource], "verbs": [v for v in rule["verbs"] if v != verb]})
    return {**role, "rules": rules}


def a_grant_goes_at_run_time(env, report):
    """A grant that is removed at run time is reported as at the start, and the report ends when it is back."""
    name = f"{BASE}-{INSTANCE}"
    role = bare(env.get("clusterrole", name))
    restart(env, "-v=1")
    env.await_ready()
    apply(env, template(), instance(["default"]))
    scoped(env, "True")

    def told(verb, resource):
        def look():
            _, text = env.readyz()
            mine = f"[-]{INSTANCE} failed" in text and f"may not {verb} {resource}" in text and "kind: ClusterRole" in text
            return mine and f"[+]{TEMPLATE} ok" in text, text
        return look

    report.step("create of rolebindings is taken out of the role, and a namespace is added to an instance")
    apply(env, without_verb(role, "create", "rolebindings"))
    env.kubectl("patch", "scopeinstance", "e2e", "--type=merge", "-p", '{"spec": {"namespaces": ["default", "kube-public"]}}')
    env.eventually(f"{INSTANCE} says so, with a manifest; {TEMPLATE} is ready",
                   told("create", "rolebindings.rbac.authorization.k8s.io"))
    report.step("exactly what it printed is applied")
    apply_printed(env, INSTANCE)
    report.held(f"ready by itself after {becomes_ready(env):.0f} s")
    scoped(env, "True")

    report.step("watch of namespaces goes, and the server ends its watches")
    apply(env, without_verb(role, "watch", "namespaces"))
    env.kill_apiserver()
    env.eventually(f"{INSTANCE} says so, with a manifest; {TEMPLATE} is ready", told("watch", "namespaces"))
    report.step("exactly what it printed is applied")
    apply_printed(env, INSTANCE)
    report.held(f"ready by itself after {becomes_ready(env):.0f} s")

    report.step("nothing to do")
    falls_silent(env, report, 20)
    env.kubectl("delete", "scopeinstance/e2e", "scopetemplate/e2e")
    apply(env, role)


def preflight_judges_what_is_granted(env, report):
    """Whatever way a grant falls short, its component alone is NotReady and prints what to apply; then it is ready."""
    role = bare(env.get("clusterrole", ROLE))
    bound = bare(env.get("clusterrolebinding", ROLE))
    crs = next(r for r in role["rules"] if "scopetemplates" in r["resources"])
    others = [r for r in role["rules"] if r != crs]

    def without(*objects):
        env.kubectl("delete", "--ignore-not-found", *objects)

    def restricted(**change):
        return lambda: apply(env, {**role, "rules": [*others, {**crs, **change}]})

    short = [
        ("a verb is missing", restricted(verbs=["list"]), "may not watch scopeinstances.operators.coreos.com"),
        ("a rule is limited to one name", restricted(resourceNames=["one"]),
         "may not list scopeinstances.operators.coreos.com"),
        ("the role is bound in one namespace only",
         lambda: (without(f"clusterrolebinding/{ROLE}"), apply(env, binding(ROLE, ROLE, "default"))),
         "may not"),
        ("the role is gone and its binding stays", lambda: without(f"clusterrole/{ROLE}"),
         "(the server says: RBAC: clusterrole.rbac.authorization.k8s.io"),
    ]
    for what, spoil, says in short:
        report.step(what)
        spoil()
        restart(env)

        def named():
            _, text = env.readyz()
            mine = f"[-]{TEMPLATE} failed" in text and says in text and "kind: ClusterRoleBinding" in text
            return mine and f"[+]{INSTANCE} ok" in text, text
        env.eventually(f"{TEMPLATE} says so, with a manifest; {INSTANCE} is ready", named)
        if what == short[0][0]:
            report.step("exactly what it printed is applied")
            apply_printed(env, TEMPLATE)
            took = becomes_ready(env)
            report.held(f"ready by itself after {took:.0f} s (it asks every 15)")
            with open(env.manager_log, encoding="utf-8", errors="replace") as f:
                lines = [l for l in f if "Permissions are missing" in l]
            expect(report, "the log had it once", len(lines) == 1, lines)
        without(f"rolebinding/{ROLE}", "-n", "default")
        apply(env, role, bound)

    report.step("grants of other shapes: everything by wildcard; in two roles that are aggregated")
    everything = [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]
    apply(env, {**role, "rules": everything})
    restart(env)
    becomes_ready(env)
    mark = {"e2e.mandate/aggregate": "true"}
    without(f"clusterrole/{ROLE}")
    apply(env, cluster_role("e2e-part-1", role["rules"][:1], mark), cluster_role("e2e-part-2", role["rules"][1:], mark),
          cluster_role(ROLE, [], aggregate=mark))
    env.eventually("kube-controller-manager has aggregated them", lambda: (
        len(env.get("clusterrole", ROLE).get("rules") or []) == len(role["rules"]), "not yet"))
    restart(env)
    becomes_ready(env)
    without(f"clusterrole/{ROLE}", "clusterrole/e2e-part-1", "clusterrole/e2e-part-2")
    apply(env, role)
    restart(env)
    becomes_ready(env)


ALL = [preflight_judges_what_is_granted, a_grant_goes_at_run_time]
