"""The checks of hack/e2e/run. Each but the last leaves the cluster as it found it."""
import json
import os
import re
import subprocess
import time

from mandate_dev.report import StepFailed
from mandate_dev.world import BASE, LOADED, NAMESPACE, PATIENCE, new_port

INSTANCE = "scope-instance"
TEMPLATE = "scope-template"


def expect(report, what, holds, seen):
    if not holds:
        raise StepFailed(report.current, what, seen)
    report.held(what)


def template(name="e2e"):
    return {"apiVersion": "operators.coreos.com/v1alpha1", "kind": "ScopeTemplate", "metadata": {"name": name},
            "spec": {"clusterRoles": [{
                "generateName": f"{name}-", "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}],
                "subjects": [{"kind": "User", "name": "ann"}]}]}}


def instance(namespaces, name="e2e", of="e2e"):
    return {"apiVersion": "operators.coreos.com/v1alpha1", "kind": "ScopeInstance", "metadata": {"name": name},
            "spec": {"scopeTemplateName": of, "namespaces": namespaces}}


def apply(env, *objects):
    env.kubectl("apply", "-f", "-", stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)}))


def condition(env, kind, name, wanted):
    found = env.get(kind, name).get("status", {}).get("conditions", [])
    return next((c for c in found if c["type"] == wanted), {})


def scoped(env, status, name="e2e"):
    def look():
        seen = condition(env, "scopeinstance", name, "Scoped")
        return seen.get("status") == status, seen
    env.eventually(f"scopeinstance {name} is Scoped={status}", look)


def audit_events(env, offset=0):
    """The audit log's events from byte `offset` on, and where it ends now."""
    with open(env.audit_log, "rb") as f:
        f.seek(offset)
        data = f.read()
    whole = data[:data.rfind(b"\n") + 1]
    return [json.loads(line) for line in whole.splitlines()], offset + len(whole)


def ours(events):
    return [e for e in events if e.get("userAgent", "").startswith("mandate-manager/")]


def falls_silent(env, report, seconds):
    """Waits until nothing but watches, leases and tokens is asked for so many seconds on end."""
    deadline = time.monotonic() + PATIENCE + seconds
    _, offset = audit_events(env)
    since, loud = time.monotonic(), []
    while time.monotonic() < since + seconds:
        if time.monotonic() > deadline:
            raise StepFailed(report.current, f"{seconds} seconds of silence", loud)
        time.sleep(1)
        events, offset = audit_events(env, offset)
        asked = [(e["verb"], e["objectRef"].get("resource"), e["user"]["username"]) for e in ours(events)
                 if e["verb"] != "watch" and e["objectRef"].get("resource") != "leases"
                 and e["objectRef"].get("subresource") != "token"]
        if asked:
            since, loud = time.monotonic(), asked
    report.held(f"{seconds} seconds without a request but watches, leases and tokens")


# The checks.

def bind_taken_and_returned(env, report):
    """Without `bind`, scope-instance's condition says so and scope-template works; back, it converges by itself."""
    role = f"{BASE}-{INSTANCE}"
    report.step("the bind rule is taken out of scope-instance's role")
    before = env.get("clusterrole", role)
    rules = [r for r in before["rules"] if "bind" not in r["verbs"]]
    expect(report, "the role had one", len(rules) < len(before["rules"]), before["rules"])
    env.kubectl("patch", "clusterrole", role, "--type=merge", "-p", json.dumps({"rules": rules}))
    apply(env, template(), instance(["default"]))

    def named():
        seen = condition(env, "scopeinstance", "e2e", "Scoped")
        return seen.get("status") == "False" and "\"bind\"" in seen.get("message", ""), seen
    env.eventually("the condition names the missing verb", named)
    env.eventually("scope-template works", lambda: (
        condition(env, "scopetemplate", "e2e", "Templated").get("status") == "True", "not Templated"))
    report.step("the rule is put back")
    env.kubectl("patch", "clusterrole", role, "--type=merge", "-p", json.dumps({"rules": before["rules"]}))
    scoped(env, "True")
    env.kubectl("delete", "scopeinstance/e2e", "scopetemplate/e2e")


def a_thousand_namespaces(env, report):
    """One namespace more than a thousand is one write more; converged, there is silence."""
    names = [f"many-{i:04}" for i in range(1000)]
    report.step("1,000 namespaces and an instance for them all")
    for start in range(0, len(names), 250):
        apply(env, *[{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": n}}
                     for n in names[start:start + 250]])
    env.kubectl("create", "namespace", "one-more")
    apply(env, template(), instance(names))

    def bound():
        seen = env.get("rolebindings", "-A")["items"]
        count = sum(1 for b in seen if b["metadata"]["name"].startswith("e2e-"))
        return count == 1000, f"{count} RoleBindings"
    env.eventually("1,000 RoleBindings", bound, patience=900)
    scoped(env, "True")

    report.step("one more")
    _, offset = audit_events(env)
    env.kubectl("patch", "scopeinstance", "e2e", "--type=merge",
                "-p", json.dumps({"spec": {"namespaces": names + ["one-more"]}}))
    env.eventually("its RoleBinding", lambda: (
        bool(env.get("rolebindings", "-n", "one-more")["items"]), "no RoleBinding"))
    env.eventually("its generation is reported", lambda: (
        condition(env, "scopeinstance", "e2e", "Scoped").get("observedGeneration")
        == env.get("scopeinstance", "e2e")["metadata"]["generation"], "an older one"))

    report.step("nothing to do")
    falls_silent(env, report, 60)
    events, _ = audit_events(env, offset)
    writes = [(e["verb"], e["objectRef"].get("resource"), e["objectRef"].get("namespace")) for e in ours(events)
              if e["objectRef"].get("resource") in ("rolebindings", "clusterrolebindings", "clusterroles")
              and e["verb"] not in ("list", "watch", "get")]
    expect(report, "exactly one RoleBinding was written", writes == [("patch", "rolebindings", "one-more")], writes)
    env.kubectl("delete", "scopeinstance/e2e", "scopetemplate/e2e")
    # The namespaces stay: deleting a thousand takes minutes, and this check is the last.


def a_service_account_is_missing(env, report):
    """A component without its ServiceAccount is NotReady and says what to apply; the other works."""
    account = f"{BASE}-{INSTANCE}"
    report.step("the manager starts while scope-instance's ServiceAccount is missing")
    manifest = env.kubectl("get", "serviceaccount", account, "-n", NAMESPACE, "-o", "json")
    env.stop_manager()
    env.kubectl("delete", "serviceaccount", account, "-n", NAMESPACE)
    env.start_manager()

    def says():
        code, text = env.readyz()
        return code == 500 and account in text and "kind: ServiceAccount" in text, text
    env.eventually("/readyz names the ServiceAccount and prints its manifest", says)
    apply(env, template(), instance(["default"]))
    env.eventually("scope-template works", lambda: (
        condition(env, "scopetemplate", "e2e", "Templated").get("status") == "True", "not Templated"))
    report.step("the ServiceAccount is created")
    account_object = json.loads(manifest)
    account_object["metadata"] = {k: v for k, v in account_object["metadata"].items()
                                  if k in ("name", "namespace", "labels")}
    apply(env, account_object)
    scoped(env, "True")
    env.await_ready()
    env.kubectl("delete", "scopeinstance/e2e", "scopetemplate/e2e")


def a_crd_is_absent(env, report):
    """A kind that the server does not serve yet is waited for."""
    report.step("the manager starts without the ScopeInstance CRD")
    crd = "scopeinstances.operators.coreos.com"
    manifest = os.path.join(env.root, "charts/mandate/crds", "operators.coreos.com_scopeinstances.yaml")
    env.stop_manager()
    env.kubectl("delete", "crd", crd)
    env.start_manager()

    def says():
        code, text = env.readyz()
        return code == 500 and "scopeinstances" in text, text
    env.eventually("/readyz says so", says)
    report.step("the CRD is applied")
    env.kubectl("apply", "-f", manifest)
    env.await_ready()
    apply(env, template(), instance(["default"]))
    scoped(env, "True")
    env.kubectl("delete", "scopeinstance/e2e", "scopetemplate/e2e")


def service_accounts_are_created_on_request(env, report):
    """--create-service-accounts, with the Role that the chart grants for it, makes a missing ServiceAccount."""
    account = f"{BASE}-{INSTANCE}"
    report.step("the chart's extra Role, a missing ServiceAccount, and the flag")
    env.stop_manager()
    env.kubectl("apply", "-f", "-", stdin=env.chart("--create-service-accounts"))
    env.kubectl("delete", "serviceaccount", account, "-n", NAMESPACE)
    env.start_manager("--create-service-accounts", "-v=1")
    env.await_ready()
    env.eventually("the ServiceAccount is there", lambda: (
        account in env.kubectl("get", "serviceaccounts", "-n", NAMESPACE, "-o", "name"), "it is not"))


def a_standby_takes_over(env, report):
    """A second manager waits, ready; when the first is killed it works as soon as the Lease runs out."""
    report.step("a second manager")
    taken = [env.health_port, env.metrics_port]
    second_port = new_port(taken)
    standby = env.spawn_manager(second_port, new_port([*taken, second_port]), "-v=1")
    try:
        env.eventually("it is ready", lambda: env.is_ready(second_port))
        holder = env.get("lease", BASE, "-n", NAMESPACE)["spec"]["holderIdentity"]
        report.step("the first is killed")
        env.abandon_manager()
        start = time.monotonic()
        apply(env, template(), instance(["default"]))
        scoped(env, "True")
        took = time.monotonic() - start
        expect(report, f"after {took:.0f} s: 15 s of lease, 5 s of retries, and the machine's load",
               took < 20 + LOADED, f"{took:.0f} s")
        now = env.get("lease", BASE, "-n", NAMESPACE)["spec"]
        expect(report, "the Lease is the second's", now["holderIdentity"] not in ("", holder), now)
        report.step("the Lease is deleted")
        env.kubectl("delete", "lease", BASE, "-n", NAMESPACE)
        env.eventually("it is the second's again", lambda: (
            env.kubectl("get", "lease", BASE, "-n", NAMESPACE, "-o", "jsonpath={.spec.holderIdentity}", check=False)
            == now["holderIdentity"], "it is not"))
        expect(report, "which runs", standby.poll() is None, standby.poll())
        env.kubectl("delete", "scopeinstance/e2e", "scopetemplate/e2e")
    finally:
        standby.terminate()
        standby.wait(timeout=PATIENCE)
    env.start_manager()
    env.await_ready()


def leadership_is_lost(env, report):
    """When another takes the Lease, the manager ends at once, with exit 1."""
    report.step("the Lease gets another holder")
    env.kubectl("patch", "lease", BASE, "-n", NAMESPACE, "--type=merge",
                "-p", json.dumps({"spec": {"holderIdentity": "somebody-else"}}))
    code = env.await_manager_end()
    expect(report, "exit 1", code == 1, f"exit {code}")
    with open(env.manager_log, encoding="utf-8", errors="replace") as f:
        last = f.readlines()[-1].strip()
    expect(report, "its last line says why", last.startswith("mandate-manager: leader election lost"), last)
    env.kubectl("patch", "lease", BASE, "-n", NAMESPACE, "--type=merge", "-p", '{"spec": {"holderIdentity": ""}}')
    env.start_manager()
    env.await_ready()


def a_graceful_end(env, report):
    """SIGTERM ends it with exit 0, the lease released; what comes after takes over at once."""
    report.step("SIGTERM")
    start = time.monotonic()
    code = env.stop_manager()
    expect(report, "exit 0", code == 0, f"exit {code}")
    expect(report, "within its 30 seconds", time.monotonic() - start < 30, f"{time.monotonic() - start:.0f} s")
    lease = env.get("lease", BASE, "-n", NAMESPACE)
    expect(report, "the lease is released", not lease["spec"].get("holderIdentity"), lease["spec"])
    env.start_manager()
    env.await_ready()


def wrong_usage(env, report):
    """A wrong flag, an unknown controller, an unreachable cluster: one clear line and exit 2."""
    report.step("wrong command lines")
    kubeconfig = f"--kubeconfig={env.manager_kubeconfig}"
    nobody = os.path.join(env.folder, "nobody.kubeconfig")
    with open(env.manager_kubeconfig, encoding="utf-8") as f:
        config = json.load(f)
    config["clusters"][0]["cluster"]["server"] = "https://127.0.0.1:1"
    env.write_private(nobody, json.dumps(config))
    for arguments, says in [
            (["--no-such-flag"], "no-such-flag"),
            ([kubeconfig, "--controllers=nonsense"], "nonsense"),
            ([kubeconfig, "--identity-mode=root"], "root"),
            (["--kubeconfig=/nonexistent/kubeconfig"], "/nonexistent/kubeconfig"),
            ([f"--kubeconfig={nobody}", f"--namespace={NAMESPACE}"], "127.0.0.1:1"),
    ]:
        done = subprocess.run([env.manager_program, *arguments, "--health-address=0", "--metrics-address=0"],
                              text=True, capture_output=True, timeout=PATIENCE)
        lines = done.stderr.strip().splitlines()
        expect(report, f"{arguments[-1] if len(arguments) < 3 else arguments[1]}: exit 2, one line that says why",
               done.returncode == 2 and len(lines) == 1 and says in lines[0], (done.returncode, done.stderr))


def no_token_in_any_log(env, report):
    """At the highest verbosity, no token reaches the log."""
    report.step("the manager at -v=5")
    env.stop_manager()
    env.start_manager("-v=5")
    env.await_ready()
    apply(env, template(), instance(["default"]))
    scoped(env, "True")
    env.kubectl("delete", "scopeinstance/e2e", "scopetemplate/e2e")
    with open(env.manager_log, encoding="utf-8", errors="replace") as f:
        log = f.read()
    # Every JWT starts with the base64 of '{"'.
    leaked = re.findall(r"eyJ[A-Za-z0-9_-]{10,}", log)
    expect(report, "no JWT in the log", not leaked, f"{len(leaked)} of them")
    with open(env.token_file, encoding="utf-8") as f:
        expect(report, "base's token is not in the log", f.read().strip() not in log, "it is")


ALL = [bind_taken_and_returned, a_service_account_is_missing, a_crd_is_absent,
       service_accounts_are_created_on_request, a_standby_takes_over, leadership_is_lost, a_graceful_end, wrong_usage,
       no_token_in_any_log, a_thousand_namespaces]
