"""Upgrades of the chart: components that go and come, identity modes, switches."""
import json
import os
import subprocess

from mandate_dev.cases.chart.chart_environment import RELEASE
from mandate_dev.cases.chart.fences import base_asks_as_the_manager_does
from mandate_dev.cases.chart.theft import log_since, with_token
from mandate_dev.cases.chart.things import ACCOUNT, INSTANCE, TEMPLATE, binding, expect, role, token_request
from mandate_dev.cases.e2e import checks as e2e
from mandate_dev.world import BASE, NAMESPACE


def parts_of(account, listed):
    """What goes with a component. Its guards stay: what it made is still there, and its names wait for its return."""
    return [x for x in listed if account in x and not x.endswith("-guard")]


def a_component_is_disabled_and_enabled(env, report):
    """Upgrades take what belongs to a disabled component away, and bring it back."""
    def minted():
        rules = env.get("role", BASE, "-n", NAMESPACE)["rules"]
        return [name for r in rules if r["resources"] == ["serviceaccounts/token"] for name in r["resourceNames"]]
    before, minted_before = env.ours(), minted()
    report.step("controllers: -scope-instance")
    env.upgrade(controllers='["*", "-scope-instance"]')
    left = env.ours()
    gone = [x for x in before if x not in left]
    expect(report, f"gone: {len(gone)} objects", gone and not parts_of(INSTANCE, left)
           and all(INSTANCE in x for x in gone), {"gone": gone, "left": left})
    expect(report, "base mints the others' tokens alone",
           TEMPLATE in minted() and INSTANCE in minted_before and minted() == [n for n in minted_before if n != INSTANCE],
           (minted_before, minted()))
    env.restart_manager("--controllers=*,-scope-instance")
    report.step("controllers: *")
    env.upgrade()
    expect(report, "as before", env.ours() == before, env.ours())
    report.step("helm rollback, and back")
    env.helm("rollback", RELEASE)
    expect(report, "without it", env.ours() == left and minted() == [n for n in minted_before if n != INSTANCE], env.ours())
    env.helm("rollback", RELEASE)
    expect(report, "as before", env.ours() == before and minted() == minted_before, env.ours())
    env.restart_manager()


def a_component_is_cut_off(env, report):
    """cutOff ends a component without a restart, outlasts an upgrade, and can be taken back."""
    before = env.ours()
    report.step("cutOff: scope-instance")
    env.upgrade(cutOff='["scope-instance"]')
    left = env.ours()
    expect(report, f"{len(before) - len(left)} objects are gone, all of them its own",
           len(left) < len(before) and not parts_of(INSTANCE, left), left)
    notes = env.helm("get", "notes", RELEASE)
    expect(report, "the notes say how", "cutOff=" in notes, notes)
    code, said = env.as_component(INSTANCE, "auth", "can-i", "list", "scopeinstances.operators.coreos.com")
    expect(report, "nothing is granted to it", code != 0, said)
    # Its watches stay open until it has something to ask.
    e2e.apply(env, e2e.template(), e2e.instance(["default"]))
    env.eventually("readiness says so", lambda: (INSTANCE in env.readyz()[1], env.readyz()[1]))
    env.eventually("the other component works", lambda: (
        e2e.condition(env, "scopetemplate", "e2e", "Templated").get("status") == "True", "not Templated"))
    expect(report, "and it wrote nothing", not env.get("rolebindings", "-n", "default")["items"], "it did")
    report.step("another upgrade")
    env.upgrade(cutOff='["scope-instance"]', auditPolicy="true")
    expect(report, "it stays cut off", not parts_of(INSTANCE, env.ours()), env.ours())
    report.step("another upgrade, and a manager that may create ServiceAccounts")
    env.upgrade(cutOff='["scope-instance"]', createServiceAccounts="true")
    env.stop_manager()
    env.start_manager("-v=1", "--create-service-accounts")
    env.eventually("its token is refused", lambda: (
        f"may not request a token of ServiceAccount {NAMESPACE}/{INSTANCE}" in env.readyz()[1], env.readyz()[1]))
    expect(report, "it stays cut off", not parts_of(INSTANCE, env.ours()), env.ours())
    expect(report, "and it wrote nothing", not env.get("rolebindings", "-n", "default")["items"], "it did")
    env.upgrade(cutOff='["scope-instance"]')
    env.stop_manager()
    env.start_manager("-v=1")
    report.step("cutOff: nobody")
    env.upgrade()
    expect(report, "as before", env.ours() == before, env.ours())
    e2e.scoped(env, "True")
    env.kubectl("delete", "scopeinstance/e2e", "scopetemplate/e2e")
    env.await_ready()
    the_names_of_one_that_is_cut_off_are_its_own(env, report, before)


def the_names_of_one_that_is_cut_off_are_its_own(env, report, before):
    report.step("cutOff: scope-template, whose names scope-instance may bind")
    env.upgrade(cutOff='["scope-template"]')
    expect(report, "its fences are gone, its guards are there", {x for x in env.ours() if TEMPLATE in x}
           == {x for x in before if TEMPLATE in x and x.endswith("-guard")} != set(), env.ours())
    env.kubectl("create", "clusterrole", "cut-off-eve", "--verb=create,escalate", "--resource=clusterroles")
    env.kubectl("create", "clusterrolebinding", "cut-off-eve", "--clusterrole=cut-off-eve", "--user=eve")
    try:
        code, said = env.as_user("eve", "create", "--dry-run=server", "-f", "-", stdin=json.dumps(role("scope-template:evil")))
        expect(report, "nobody else makes a role with its prefix", code != 0 and "may create objects with names of" in said, said)
    finally:
        env.kubectl("delete", "clusterrole/cut-off-eve", "clusterrolebinding/cut-off-eve")
    env.upgrade()
    expect(report, "as before", env.ours() == before, env.ours())
    env.await_ready()


def the_modes(env, report):
    """In each identity mode the manager is ready, and does its work, with what the chart grants for it."""
    for mode, more in (("impersonate", {"impersonation": "constrained"}), ("impersonate", {"impersonation": "classic"}),
                       ("single", {}), ("token", {})):
        report.step(" ".join([mode, *more.values()]))
        env.upgrade(identityMode=mode, **more)
        env.identity_mode = mode
        env.restart_manager()
        e2e.apply(env, e2e.template(), e2e.instance(["default"]))
        e2e.scoped(env, "True")
        env.kubectl("delete", "scopeinstance/e2e", "scopetemplate/e2e")
        env.eventually("and revokes", lambda: (not env.get("rolebindings", "-n", "default")["items"], "not yet"))
        if more.get("impersonation") == "constrained":
            base = f"system:serviceaccount:{NAMESPACE}:{BASE}"
            for verb, resource in (("impersonate", "serviceaccounts"), ("create", "clusterroles")):
                expect(report, f"base may not {verb} {resource}", not env.can(base, verb, resource, NAMESPACE), "it may")
            base_is_held_to_the_component_that_it_acts_as(env, report)


def base_is_held_to_the_component_that_it_acts_as(env, report):
    report.step("scope-template is granted what only scope-instance's markers say; base acts as scope-template")
    start = os.path.getsize(env.audit_log)
    env.kubectl("create", "clusterrole", "more", "--verb=create,delete,list,patch", "--resource=rolebindings,namespaces")
    env.kubectl("create", "clusterrolebinding", "more", "--clusterrole=more", f"--serviceaccount={NAMESPACE}:{TEMPLATE}")
    env.kubectl("create", "-f", "-", stdin=json.dumps({**role("nothing", labels={"a": "b"}), "rules": []}))
    with open(env.token_file, encoding="utf-8") as f:
        token = f.read().strip()

    # kubectl alone would ask for the API's schemas, which base may not read as a component.
    def acts(verb, path, thing=None):
        return with_token(env, token, verb, "--raw", path, *(["-f", "-"] if thing else []),
                          f"--as=system:serviceaccount:{NAMESPACE}:{TEMPLATE}", stdin=json.dumps(thing) if thing else None)
    group = "/apis/rbac.authorization.k8s.io/v1"
    thing = {**binding("nothing", namespace="default"), "kind": "RoleBinding"}
    try:
        # Kubernetes obeys a grant, and a policy, some time after it was made.
        def denied():
            code, said = acts("create", f"{group}/namespaces/default/rolebindings", thing)
            return code != 0 and "no marker of component scope-template declares this write" in said, said
        env.eventually("no RoleBinding", denied)
        code, said = acts("create", f"{group}/clusterroles", role(labels={"a": "b"}))
        expect(report, "its own writes are judged by its own fence", code != 0 and "objects that have a controller" in said, said)
        # Admission does not see what is read.
        code, said = acts("get", "/api/v1/namespaces")
        expect(report, "it reads what scope-instance may", code == 0, said)
        done = subprocess.run([env.rbacgen, "audit", "--json", "--fail-on=none", "--sources=controllers",
                               log_since(env, start)], text=True, capture_output=True)
        found = [f["text"] for f in json.loads(done.stdout)["findings"] if f["kind"] == "undeclared"]
        expect(report, "rbacgen audit reports it as undeclared", [text for text in found if "namespaces" in text], done.stdout)
    finally:
        env.kubectl("delete", "clusterrolebinding/more", "clusterrole/more", "clusterrole/nothing")
        env.kubectl("delete", "rolebinding/fence-test", "-n", "default", "--ignore-not-found")


def the_switches(env, report):
    """Kill switches, flow schemas, the audit policy and the right to create ServiceAccounts come and go."""
    report.step("on")
    env.upgrade(killSwitch="true", flowSchemas="true", auditPolicy="true", createServiceAccounts="true")
    wanted = [f"Secret/{INSTANCE}", f"Secret/{TEMPLATE}", f"FlowSchema/{BASE}", f"PriorityLevelConfiguration/{BASE}",
              f"ConfigMap/{BASE}-audit-policy", f"Role/{BASE}-create-service-accounts"]
    expect(report, ", ".join(wanted), set(wanted) <= set(env.ours()), env.ours())
    env.eventually("the server follows the flow schema", lambda: (
        any(c["type"] == "Dangling" and c["status"] == "False"
            for c in env.get("flowschema", BASE).get("status", {}).get("conditions", [])), "dangling"))
    # A policy is obeyed some time after it was changed.
    env.eventually("the policy asks for the Secret", lambda: (
        env.as_component(BASE, "create", "--raw", ACCOUNT, "-f", "-", stdin=token_request())[0] != 0, "a token"))
    base_asks_as_the_manager_does(env, report, kill_switch=True)
    report.step("off")
    env.upgrade()
    expect(report, "gone", not set(wanted) & set(env.ours()), env.ours())
