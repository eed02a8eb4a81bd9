"""Thefts of base's credential: the steps that end them, and the findings of the audit trace."""
import http.client
import json
import os
import shutil
import ssl
import subprocess
from typing import Any

from mandate_dev.cases.chart.chart_world import ChartCase, ChartWorld
from mandate_dev.cases.chart.things import ACCOUNT, INSTANCE, OURS, TEMPLATE, token_request
from mandate_dev.cases.e2e import checks as e2e
from mandate_dev.world import BASE, NAMESPACE

# The manager has just started, so each component has one token.
OVERLAP = "10ms"


def log_since(world: ChartWorld, start: Any) -> Any:
    """Returns a file with the audit log from this byte on."""
    part = os.path.join(world.folder, "part.log")
    with open(world.audit_log, "rb") as log, open(part, "wb") as out:
        log.seek(start)
        shutil.copyfileobj(log, out)
    return part


def trace(world: ChartWorld, log: Any, overlap: Any) -> tuple[Any, Any]:
    """Returns (exit code, the kinds of findings) of rbacgen trace --check."""
    done = subprocess.run([world.rbacgen, "trace", "--check", "--json", f"--token-overlap={overlap}", log],
                          text=True, capture_output=True)
    return done.returncode, {f["kind"] for f in json.loads(done.stdout)["findings"]}


class Thief:
    """A thief with base's token file and the manager's own user agents, who sends from this address."""

    def __init__(self, world: ChartWorld, agents: Any, address: str = "127.0.0.1") -> None:
        with open(world.token_file, encoding="utf-8") as f:
            self.base = f.read().strip()
        self._host = world.cluster.server().removeprefix("https://")
        self._context = ssl.create_default_context(cafile=world.cluster.ca_file)
        self._agents, self._address = agents, address

    def ask(self, who: str, token: str, method: str, path: str, body: Any = None) -> tuple[Any, Any]:
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

    def mint(self, **spec: Any) -> Any:
        return self.ask(BASE, self.base, "POST", ACCOUNT, token_request(**spec))

    def list_instances(self, token: str) -> Any:
        return self.ask(INSTANCE, token, "GET", "/apis/operators.coreos.com/v1alpha1/scopeinstances")


def a_thief_is_traced(case: ChartCase, start: Any, agents: Any) -> None:
    """Each attack adds to the log, and adds its own kind of finding."""
    world = case.world
    def found(kinds: Any) -> None:
        # The manager continues with its own tokens.
        e2e.apply(world, e2e.template(), e2e.instance(["default"]))
        e2e.scoped(world, "True")
        world.kubectl("delete", "scopeinstance/e2e", "scopetemplate/e2e")

        # Base uses its own token again when it renews the Lease.
        def look() -> tuple[Any, Any]:
            code, findings = trace(world, log_since(world, start), OVERLAP)
            return code == 1 and findings == kinds, findings
        world.eventually(", ".join(sorted(kinds)), look, patience=60)
    case.step("rbacgen trace --check, of a thief of base's token on the same host, with the manager's user agents")
    thief = Thief(world, agents)
    code, answer = thief.mint()
    case.expect("a component's token is issued", code == 201, answer)
    code, seen = thief.list_instances(answer["status"]["token"])
    case.expect("and used", code == 200, seen)
    found({"two-tokens"})
    code, seen = thief.mint(expirationSeconds=1 << 32)
    case.expect("a request for 136 years is denied", code == 403 and "an hour at most" in seen["message"], seen)
    found({"two-tokens", "token-request"})
    case.step("a thief who sends from another address")
    far = Thief(world, agents, "127.0.0.2")
    code, seen = far.list_instances(answer["status"]["token"])
    case.expect("the token is used there", code == 200, seen)
    found({"two-tokens", "token-request", "component-address"})
    code, answer = far.mint()
    case.expect("another is requested there", code == 201, answer)
    found({"two-tokens", "token-request", "component-address", "base-address"})
    case.step("a thief who tries requests that base may not make")
    code, seen = thief.ask(BASE, thief.base, "DELETE", f"/api/v1/namespaces/{NAMESPACE}/secrets/x")
    case.expect("denied", code == 403, seen)
    found({"two-tokens", "token-request", "component-address", "base-address", "base-write"})


FORGED = "00000000-0000-4000-8000-000000000000"


def with_token(world: ChartWorld, token: str, *arguments: str, stdin: str | None = None) -> tuple[int, str]:
    """Returns (exit code, output) of kubectl with only that token."""
    with open(world.manager_kubeconfig, encoding="utf-8") as f:
        config = json.load(f)
    config["users"][0]["user"] = {"token": token}
    path = os.path.join(world.folder, "thief.kubeconfig")
    world.write_private(path, json.dumps(config))
    return world.try_kubectl(*arguments, stdin=stdin, kubeconfig=path)


def ended(world: ChartWorld, token: str) -> tuple[Any, Any]:
    code, said = with_token(world, token, "auth", "whoami")
    return code != 0 and "Unauthorized" in said, said


class Theft(ChartCase):
    """Tests stolen credentials."""

    def test_a_theft_of_bases_credential_ends(self) -> None:
        """The steps of docs/identity.md after a theft, without the kill switch."""
        world = self.world
        self.step("the thief has base's token, and requests a component's")
        base = world.kubectl("create", "token", BASE, "-n", NAMESPACE).strip()
        code, said = with_token(world, base, "create", "--raw", ACCOUNT, "-f", "-", stdin=token_request())
        self.expect("it is issued", code == 0, said)
        component = json.loads(said)["status"]["token"]
        code, said = with_token(world, component, "auth", "whoami")
        self.expect("it is good", code == 0 and INSTANCE in said, said)
        self.step("the ServiceAccounts are deleted, and made again by helm upgrade")
        world.stop_manager()
        world.kubectl("delete", "serviceaccount", BASE, INSTANCE, TEMPLATE, "-n", NAMESPACE)
        world.upgrade()
        self.expect("they are there", {f"ServiceAccount/{name}" for name in (BASE, INSTANCE, TEMPLATE)} <= set(world.ours()),
                    world.ours())
        world.eventually("base's token is dead", lambda: ended(world, base))
        world.eventually("the component's token is dead, too", lambda: ended(world, component))
        self.step("the manager with a new token")
        world.write_credentials()
        world.start_manager("-v=1")
        world.await_ready()

    def test_a_kill_switch_ends_a_theft(self) -> None:
        """With the kill switch, base's token gives new tokens only while the Secret exists."""
        world = self.world
        world.upgrade(killSwitch="true")
        with open(world.token_file, encoding="utf-8") as f:
            base = f.read().strip()

        def mint(**spec: Any) -> tuple[int, str]:
            return with_token(world, base, "create", "--raw", ACCOUNT, "-f", "-", stdin=token_request(**spec))
        # A policy takes effect some time after its change.
        world.eventually("the policy asks for the Secret", lambda: (mint()[0] != 0, "a token"))
        world.restart_manager("--bind-tokens-to-secrets")
        self.step("the thief has base's token, and requests a component's")
        code, said = mint(boundObjectRef=OURS)
        self.expect("it is issued", code == 0, said)
        component = json.loads(said)["status"]["token"]
        code, said = with_token(world, component, "auth", "whoami")
        self.expect("it is good", code == 0 and INSTANCE in said, said)
        # base_asks_as_the_manager_does tests more of these requests.
        wrong: dict[str, dict[str, Any]] = {
            "136 years": {"boundObjectRef": OURS, "expirationSeconds": 1 << 32}, "bound to nothing": {},
            "for others": {"boundObjectRef": OURS, "audiences": ["sts.amazonaws.com", "vault"]},
            "bound to another Secret": {"boundObjectRef": dict(OURS, name="other")}}
        for what, spec in wrong.items():
            code, said = mint(**spec)
            self.expect(f"none {what}", code != 0 and "base may only request tokens" in said, said)
        self.step("the Secret is deleted")
        world.kubectl("delete", "secret", INSTANCE, "-n", NAMESPACE)
        world.eventually("the thief's token is dead", lambda: ended(world, component))
        bounds: dict[str, dict[str, Any]] = {"bound to it": {"boundObjectRef": OURS}, "bound to nothing": {}}
        for what, spec in bounds.items():
            code, said = mint(**spec)
            self.expect(f"no other, {what}", code != 0 and ("not found" in said or "base may only request tokens" in said), said)
        self.step("helm upgrade makes it again")
        world.upgrade(killSwitch="true")
        dead, said = ended(world, component)
        self.expect("the thief's token stays dead", dead, said)
        world.await_ready()
        world.upgrade()
        world.eventually("the policy asks for no Secret", lambda: (mint()[0] == 0, "none"))
        world.restart_manager()

    def test_a_theft_is_traced(self) -> None:
        """With the generated audit policy the log has all events that the trace needs, and none of other users."""
        world = self.world
        self.step("rbacgen trace --check")
        world.stop_manager()
        start = os.path.getsize(world.audit_log)
        world.start_manager("-v=1")
        world.await_ready()
        e2e.apply(world, e2e.template(), e2e.instance(["default"]))
        e2e.scoped(world, "True")
        world.kubectl("delete", "scopeinstance/e2e", "scopetemplate/e2e")
        part = log_since(world, start)
        for overlap in ("60s", OVERLAP):
            code, findings = trace(world, part, overlap)
            self.expect(f"passes, with --token-overlap={overlap}", code == 0 and not findings, findings)
        events, _ = e2e.audit_events(world, start)
        # With --bodies the log also has the ScopeInstances of all users.
        users = {e["user"]["username"] for e in events if e.get("objectRef", {}).get("subresource") != "token"
                 and e.get("objectRef", {}).get("resource") != "scopeinstances"}
        wanted = {f"system:serviceaccount:{NAMESPACE}:{name}" for name in (BASE, TEMPLATE, INSTANCE)}
        self.expect(f"{len(events)} events, of these identities alone", users and users <= wanted, users)
        renewals = [e for e in events if e.get("objectRef", {}).get("resource") == "leases" and e["verb"] == "update"]
        self.expect(f"{len(renewals)} renewals of the Lease among them", renewals, events[:1])
        self.step("rbacgen audit, of the policy and of the log")
        done = subprocess.run([world.rbacgen, "audit", "--json", "--fail-on=none", "--sources=controllers/scope",
                               f"--audit-policy={world.audit_policy}", part], text=True, capture_output=True)
        hidden = [f for f in json.loads(done.stdout)["findings"] if f["kind"] == "hidden"]
        self.expect("nothing is hidden", not hidden, hidden)
        agents = {e["user"]["username"].rpartition(":")[2]: e["userAgent"] for e in events}
        a_thief_is_traced(self, start, agents)

    def test_forged_bindings_are_found(self) -> None:
        """With the bodies that `audit-policy --bodies` keeps, the trace finds a binding for a ScopeInstance that does
        not exist."""
        world = self.world
        self.step("a thief with the token of scope-instance binds a role")
        start = os.path.getsize(world.audit_log)
        world.kubectl("get", "scopeinstances")  # a list of all
        token = world.kubectl("create", "token", INSTANCE, "-n", NAMESPACE).strip()
        code, said = with_token(world, token, "create", "-f", "-", stdin=json.dumps({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding",
            "metadata": {"name": "forged", "namespace": "default",
                         "labels": {"operators.coreos.io/scopeInstanceUID": FORGED,
                                    "operators.coreos.io/generateName": "forged"},
                         "ownerReferences": [{"apiVersion": "operators.coreos.com/v1", "kind": "ScopeInstance",
                                              "name": "forged", "uid": FORGED, "controller": True}]},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "scope-template:forged"},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "eve"}]}))
        self.expect("the fences allow the write: they cannot check the instance", code == 0, said)
        self.step("rbacgen trace --check")
        part = log_since(world, start)
        done = subprocess.run([world.rbacgen, "trace", "--check", part], text=True, capture_output=True)
        wanted = "orphan-binding: scope-instance created rolebindings default/forged"
        self.expect("orphan-binding", done.returncode == 1 and wanted in done.stderr and FORGED in done.stderr,
                    done.stdout + done.stderr)
