"""Thefts of base's credential: what ends them, and what the audit trace finds."""
import http.client
import json
import os
import shutil
import ssl
import subprocess

from mandate_dev.cases.chart.things import ACCOUNT, INSTANCE, OURS, TEMPLATE, expect, token_request
from mandate_dev.cases.e2e import checks as e2e
from mandate_dev.world import BASE, NAMESPACE

# The manager began just now, so that each component has one token.
OVERLAP = "10ms"


def log_since(env, start):
    """A file with the audit log from this byte on."""
    part = os.path.join(env.folder, "part.log")
    with open(env.audit_log, "rb") as log, open(part, "wb") as out:
        log.seek(start)
        shutil.copyfileobj(log, out)
    return part


def trace(env, log, overlap):
    """(exit code, the kinds of findings) of rbacgen trace --check."""
    done = subprocess.run([env.rbacgen, "trace", "--check", "--json", f"--token-overlap={overlap}", log],
                          text=True, capture_output=True)
    return done.returncode, {f["kind"] for f in json.loads(done.stdout)["findings"]}


class Thief:
    """Whoever has base's token file; the user agents are the manager's own. Sends from this address."""

    def __init__(self, env, agents, address="127.0.0.1"):
        with open(env.token_file, encoding="utf-8") as f:
            self.base = f.read().strip()
        with open(os.path.join(env.cluster_folder, "server"), encoding="utf-8") as f:
            self._host = f.read().strip().removeprefix("https://")
        self._context = ssl.create_default_context(cafile=os.path.join(env.cluster_folder, "ca.crt"))
        self._agents, self._address = agents, address

    def ask(self, who, token, method, path, body=None):
        """(code, object)"""
        connection = http.client.HTTPSConnection(self._host, timeout=30, context=self._context,
                                                 source_address=(self._address, 0))
        try:
            headers = {"Authorization": f"Bearer {token}", "User-Agent": self._agents[who], "Content-Type": "application/json"}
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())
        finally:
            connection.close()

    def mint(self, **spec):
        return self.ask(BASE, self.base, "POST", ACCOUNT, token_request(**spec))

    def list_instances(self, token):
        return self.ask(INSTANCE, token, "GET", "/apis/operators.coreos.com/v1alpha1/scopeinstances")


def a_thief_is_traced(env, report, start, agents):
    """Each attack adds to the log; the kinds that it adds to the findings are its own."""
    def found(kinds):
        # The manager goes on with its own tokens.
        e2e.apply(env, e2e.template(), e2e.instance(["default"]))
        e2e.scoped(env, "True")
        env.kubectl("delete", "scopeinstance/e2e", "scopetemplate/e2e")

        # Base uses its own token again when it renews the Lease.
        def look():
            code, findings = trace(env, log_since(env, start), OVERLAP)
            return code == 1 and findings == kinds, findings
        env.eventually(", ".join(sorted(kinds)), look, patience=60)
    report.step("rbacgen trace --check, of a thief of base's token on the same host, with the manager's user agents")
    thief = Thief(env, agents)
    code, answer = thief.mint()
    expect(report, "a component's token is issued", code == 201, answer)
    code, seen = thief.list_instances(answer["status"]["token"])
    expect(report, "and used", code == 200, seen)
    found({"two-tokens"})
    code, seen = thief.mint(expirationSeconds=1 << 32)
    expect(report, "one for 136 years is refused", code == 403 and "an hour at most" in seen["message"], seen)
    found({"two-tokens", "token-request"})
    report.step("of one who sends from another address")
    far = Thief(env, agents, "127.0.0.2")
    code, seen = far.list_instances(answer["status"]["token"])
    expect(report, "the token is used there", code == 200, seen)
    found({"two-tokens", "token-request", "component-address"})
    code, answer = far.mint()
    expect(report, "another is requested there", code == 201, answer)
    found({"two-tokens", "token-request", "component-address", "base-address"})
    report.step("of one who tries what base may not")
    code, seen = thief.ask(BASE, thief.base, "DELETE", f"/api/v1/namespaces/{NAMESPACE}/secrets/x")
    expect(report, "refused", code == 403, seen)
    found({"two-tokens", "token-request", "component-address", "base-address", "base-write"})


def it_is_traced(env, report):
    """Under the generated audit policy the trace has all it needs, and nobody else is logged."""
    report.step("rbacgen trace --check")
    env.stop_manager()
    start = os.path.getsize(env.audit_log)
    env.start_manager("-v=1")
    env.await_ready()
    e2e.apply(env, e2e.template(), e2e.instance(["default"]))
    e2e.scoped(env, "True")
    env.kubectl("delete", "scopeinstance/e2e", "scopetemplate/e2e")
    part = log_since(env, start)
    for overlap in ("60s", OVERLAP):
        code, findings = trace(env, part, overlap)
        expect(report, f"passes, with --token-overlap={overlap}", code == 0 and not findings, findings)
    events, _ = e2e.audit_events(env, start)
    # With --bodies everybody's ScopeInstances are there too.
    users = {e["user"]["username"] for e in events if e.get("objectRef", {}).get("subresource") != "token"
             and e.get("objectRef", {}).get("resource") != "scopeinstances"}
    wanted = {f"system:serviceaccount:{NAMESPACE}:{name}" for name in (BASE, TEMPLATE, INSTANCE)}
    expect(report, f"{len(events)} events, of these identities alone", users and users <= wanted, users)
    renewals = [e for e in events if e.get("objectRef", {}).get("resource") == "leases" and e["verb"] == "update"]
    expect(report, f"{len(renewals)} renewals of the Lease among them", renewals, events[:1])
    report.step("rbacgen audit, of the policy and of the log")
    done = subprocess.run([env.rbacgen, "audit", "--json", "--fail-on=none", "--sources=controllers",
                           f"--audit-policy={env.audit_policy}", part], text=True, capture_output=True)
    hidden = [f for f in json.loads(done.stdout)["findings"] if f["kind"] == "hidden"]
    expect(report, "nothing is hidden", not hidden, hidden)
    agents = {e["user"]["username"].rpartition(":")[2]: e["userAgent"] for e in events}
    a_thief_is_traced(env, report, start, agents)


FORGED = "00000000-0000-4000-8000-000000000000"


def forged_bindings_are_found(env, report):
    """With the bodies that `audit-policy --bodies` keeps, the trace finds a binding for a ScopeInstance that is not there."""
    report.step("somebody with the token of scope-instance binds a role")
    start = os.path.getsize(env.audit_log)
    env.kubectl("get", "scopeinstances")  # a whole list of them
    token = env.kubectl("create", "token", INSTANCE, "-n", NAMESPACE).strip()
    code, said = with_token(env, token, "create", "-f", "-", stdin=json.dumps({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding",
        "metadata": {"name": "forged", "namespace": "default",
                     "labels": {"operators.coreos.io/scopeInstanceUID": FORGED,
                                "operators.coreos.io/generateName": "forged"},
                     "ownerReferences": [{"apiVersion": "operators.coreos.com/v1", "kind": "ScopeInstance",
                                          "name": "forged", "uid": FORGED, "controller": True}]},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "scope-template:forged"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "eve"}]}))
    expect(report, "the fences cannot know", code == 0, said)
    report.step("rbacgen trace --check")
    part = log_since(env, start)
    done = subprocess.run([env.rbacgen, "trace", "--check", part], text=True, capture_output=True)
    wanted = "orphan-binding: scope-instance made rolebindings default/forged"
    expect(report, "orphan-binding", done.returncode == 1 and wanted in done.stderr and FORGED in done.stderr,
           done.stdout + done.stderr)


def with_token(env, token, *arguments, stdin=None):
    """(exit code, what it says) of kubectl with that token alone."""
    with open(env.manager_kubeconfig, encoding="utf-8") as f:
        config = json.load(f)
    config["users"][0]["user"] = {"token": token}
    path = os.path.join(env.folder, "thief.kubeconfig")
    env.write_private(path, json.dumps(config))
    return env.try_kubectl(*arguments, stdin=stdin, kubeconfig=path)


def ended(env, token):
    code, said = with_token(env, token, "auth", "whoami")
    return code != 0 and "Unauthorized" in said, said


def a_theft_of_bases_credential_ends(env, report):
    """What docs/identity.md says to do after a theft, without the kill switch."""
    report.step("the thief has base's token, and requests a component's")
    base = env.kubectl("create", "token", BASE, "-n", NAMESPACE).strip()
    code, said = with_token(env, base, "create", "--raw", ACCOUNT, "-f", "-", stdin=token_request())
    expect(report, "it is issued", code == 0, said)
    component = json.loads(said)["status"]["token"]
    code, said = with_token(env, component, "auth", "whoami")
    expect(report, "it is good", code == 0 and INSTANCE in said, said)
    report.step("the ServiceAccounts are deleted, and made again by helm upgrade")
    env.stop_manager()
    env.kubectl("delete", "serviceaccount", BASE, INSTANCE, TEMPLATE, "-n", NAMESPACE)
    env.upgrade()
    expect(report, "they are there", {f"ServiceAccount/{name}" for name in (BASE, INSTANCE, TEMPLATE)} <= set(env.ours()),
           env.ours())
    env.eventually("base's token is dead", lambda: ended(env, base))
    env.eventually("so is the component's", lambda: ended(env, component))
    report.step("the manager with a new token")
    env.write_credentials()
    env.start_manager("-v=1")
    env.await_ready()


def a_kill_switch_ends_a_theft(env, report):
    """What base's own token buys with the kill switch: as long as the Secret is there, and no more."""
    env.upgrade(killSwitch="true")
    with open(env.token_file, encoding="utf-8") as f:
        base = f.read().strip()

    def mint(**spec):
        return with_token(env, base, "create", "--raw", ACCOUNT, "-f", "-", stdin=token_request(**spec))
    # A policy is obeyed some time after it was changed.
    env.eventually("the policy asks for the Secret", lambda: (mint()[0] != 0, "a token"))
    env.restart_manager("--bind-tokens-to-secrets")
    report.step("the thief has base's token, and requests a component's")
    code, said = mint(boundObjectRef=OURS)
    expect(report, "it is issued", code == 0, said)
    component = json.loads(said)["status"]["token"]
    code, said = with_token(env, component, "auth", "whoami")
    expect(report, "it is good", code == 0 and INSTANCE in said, said)
    # The review's: 136 years, other audiences, bound to another Secret. base_asks_as_the_manager_does has the rest.
    for what, spec in (("136 years", {"boundObjectRef": OURS, "expirationSeconds": 1 << 32}), ("bound to nothing", {}),
                       ("for others", {"boundObjectRef": OURS, "audiences": ["sts.amazonaws.com", "vault"]}),
                       ("bound to another Secret", {"boundObjectRef": dict(OURS, name="other")})):
        code, said = mint(**spec)
        expect(report, f"none {what}", code != 0 and "base may only request tokens" in said, said)
    report.step("the Secret is deleted")
    env.kubectl("delete", "secret", INSTANCE, "-n", NAMESPACE)
    env.eventually("the thief's token is dead", lambda: ended(env, component))
    for what, spec in (("bound to it", {"boundObjectRef": OURS}), ("bound to nothing", {})):
        code, said = mint(**spec)
        expect(report, f"no other, {what}", code != 0 and ("not found" in said or "base may only request tokens" in said), said)
    report.step("helm upgrade makes it again")
    env.upgrade(killSwitch="true")
    dead, said = ended(env, component)
    expect(report, "the thief's token stays dead", dead, said)
    env.await_ready()
    env.upgrade()
    env.eventually("the policy asks for no Secret", lambda: (mint()[0] == 0, "none"))
    env.restart_manager()
