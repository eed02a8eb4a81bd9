"""Compares scope-webhook's decisions with the API server's own: who may create a ScopeTemplate or a ScopeInstance, and who
may create the equivalent ClusterRoles and bindings.

CASES and SEED in the environment set the number of random cases and the seed.
"""
import collections
import http.client
import itertools
import json
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from mandate_dev import webhooks
from mandate_dev.cases import WorldCase
from mandate_dev.cases.e2e import scope_checks, webhook_checks
from mandate_dev.cases.e2e.checks import condition, instance
from mandate_dev.cases.e2e.webhook_random import (AWAITED, NAMESPACES, RBAC, ROLE_ABSENT, Case, Dice, Rules, User, features,
                                                  generate_name)
from mandate_dev.world import World

THREADS = 8
RETRIES = 20
OFTEN = 50  # A feature of so many cases must have been both allowed and denied.
LABELS = {"e2e": "differential"}
OURS = "/apis/operators.coreos.com/v1alpha1/"
ADMIN = User("", [], [])
PROBE = User("dif-probe", ["dif-writers"], [])
PODS = webhook_checks.PODS


def role(name: str, rules: Rules, namespace: str = "") -> dict[str, Any]:
    place = {"namespace": namespace} if namespace else {}
    return {"apiVersion": f"{RBAC}/v1", "kind": "Role" if namespace else "ClusterRole",
            "metadata": {"name": name, "labels": LABELS, **place}, "rules": rules}


def binding(name: str, namespace: str, subject: Any, of: str, kind: str = "ClusterRole") -> dict[str, Any]:
    place = {"namespace": namespace} if namespace else {}
    return {"apiVersion": f"{RBAC}/v1", "kind": "RoleBinding" if namespace else "ClusterRoleBinding",
            "metadata": {"name": name, "labels": LABELS, **place}, "subjects": [subject],
            "roleRef": {"apiGroup": RBAC, "kind": kind, "name": of}}


def user(name: str) -> dict[str, str]:
    return {"kind": "User", "name": name, "apiGroup": RBAC}


def scope_template(name: str, roles: list[Rules], names: list[str]) -> dict[str, Any]:
    made = webhook_checks.with_rules(name=name)
    made["spec"]["clusterRoles"] = [{"generateName": generated, "rules": rules, "subjects": [user("dif-subject")]}
                                    for generated, rules in zip(names, roles)]
    return dict(made, metadata={"name": name, "labels": LABELS})


def scope_instance(name: str, of: str, namespaces: list[str], selector: Any = None) -> dict[str, Any]:
    made = instance(namespaces, name, of)
    if selector is not None:
        made["spec"]["namespaceSelector"] = selector
    return dict(made, metadata={"name": name, "labels": LABELS})


def path_of(thing: Any) -> str:
    plural = f"{thing['kind'].lower()}s"
    if thing["kind"].startswith("Scope"):
        return OURS + plural
    namespace = thing["metadata"].get("namespace")
    return f"/apis/{RBAC}/v1/{f'namespaces/{namespace}/' if namespace else ''}{plural}"


class Server:
    """Sends requests as the administrator, who impersonates a user. Each thread has a connection of its own.
    Thread-safe."""

    def __init__(self, world: World) -> None:
        self._tls = world.cluster.tls()
        self._address = world.cluster.server().removeprefix("https://")
        self._threads = threading.local()

    def send(self, who: User, method: str, path: str, body: Any = None) -> tuple[int, str]:
        """(code, text)"""
        if not hasattr(self._threads, "connection"):
            self._threads.connection = http.client.HTTPSConnection(self._address, context=self._tls, timeout=60)
        connection, data = self._threads.connection, json.dumps(body).encode() if body else b""
        connection.putrequest(method, path)
        headers = [("Content-Type", "application/json"), ("Content-Length", str(len(data)))]
        if who.name:
            headers += [("Impersonate-User", who.name), *(("Impersonate-Group", group) for group in who.groups)]
        for header in headers:
            connection.putheader(*header)
        connection.endheaders(data)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()

    def create(self, thing: Any) -> None:
        code, text = self.send(ADMIN, "POST", path_of(thing), thing)
        if code != 201:
            raise RuntimeError(f"{code} {text}")

    def try_to_create(self, who: User, thing: Any) -> tuple[int, str]:
        """(code, message) of a dry run."""
        for _ in range(RETRIES):
            code, text = self.send(who, "POST", f"{path_of(thing)}?dryRun=All", thing)
            # Too many requests, or a webhook without an answer in time: these are not decisions.
            if code != 429 and not (code == 500 and "failed calling webhook" in text):
                break
        return code, json.loads(text).get("message", "")

    def delete_ours(self) -> None:
        # While other threads sent requests, this one's connection may have been idle for 90 s; then the API server ends it.
        self._threads = threading.local()
        paths = [OURS + "scopeinstances", OURS + "scopetemplates", f"/apis/{RBAC}/v1/clusterrolebindings",
                 f"/apis/{RBAC}/v1/clusterroles",
                 *(f"/apis/{RBAC}/v1/namespaces/{ns}/{kind}" for ns in NAMESPACES for kind in ("rolebindings", "roles"))]
        for path in paths:
            self.send(ADMIN, "DELETE", f"{path}?labelSelector=e2e%3Ddifferential")


def rights(users: list[User]) -> tuple[list[Any], list[Any]]:
    """Returns the roles and the bindings that give the users their rights."""
    roles, bindings = [], []
    for i, who in enumerate(users):
        for j, grant in enumerate(who.grants):
            name = f"dif-user-{i}-{j}"
            made = role(name, grant.rules, grant.namespace if grant.as_role else "")
            roles.append(made)
            bindings.append(binding(name, grant.namespace, who.subject(grant), name, made["kind"]))
    return roles, bindings


def describe(case: Case, templates: list[list[Rules]]) -> str:
    roles = templates[case.number] if case.kind == "instance" else case.roles
    lines = [f"{case.kind}, by {case.user.name} in {', '.join(case.user.groups)}; scopes {case.scopes()}"]
    for grant in case.user.grants:
        lines.append(f"has in {grant.namespace or 'the cluster'}:")
        lines += [f"  {json.dumps(rule)}" for rule in grant.rules]
    for rules in roles:
        lines += ["wants the role:", *(f"  {json.dumps(rule)}" for rule in rules)]
    return "\n".join(lines)


class Sides:
    """The two sides that must agree: scope-webhook, and the API server. Thread-safe.

    role_names: the ClusterRoles of the existing templates.
    """

    def __init__(self, server: Server, templates: list[list[Rules]], role_names: list[list[str]]) -> None:
        self._server, self._templates, self._role_names = server, templates, role_names

    def webhook(self, case: Case) -> tuple[bool | None, str]:
        """(whether it allows the write, or None for another answer; the message)"""
        if case.kind in ("template", "awaited"):
            name = f"dif-late-{case.number}" if case.kind == "awaited" else "dif-new"
            thing = scope_template(name, case.roles, [f"dif-new-{i}-" for i in range(len(case.roles))])
        else:
            of = "dif-no-template" if case.kind == "orphan" else f"dif-{case.number}"
            thing = scope_instance("dif-new", of, case.namespaces, case.selector)
        code, said = self._server.try_to_create(case.user, thing)
        denied = code == 403 and f"denied the request: {webhooks.NOT_HELD}" in said
        return (True if code == 201 else False if denied else None), f"{code} {said}"

    def _bound(self, case: Case) -> list[str]:
        """The ClusterRoles that the instances of the case bind. A role without rules is as one that does not exist:
        somebody may add its rules later."""
        if case.kind == "awaited":
            # The roles do not exist yet: these have the same rules, and no rule about `bind` has their names.
            names, roles = [f"dif-copy-{self._templates.index(case.roles)}-{i}" for i in range(len(case.roles))], case.roles
        elif case.kind == "orphan":
            names, roles = [ROLE_ABSENT], [[]]
        else:
            names, roles = self._role_names[case.number], self._templates[case.number]
        return [name if rules else ROLE_ABSENT for name, rules in zip(names, roles)]

    def api_server(self, case: Case) -> tuple[bool | None, str]:
        """The same of the equivalent ClusterRoles and bindings."""
        things = [role("dif-new", rules) for rules in case.roles]
        things += [binding("dif-new", ns, user("dif-subject"), name) for name in self._bound(case) for ns in case.scopes()]
        if case.kind in ("template", "awaited") and not all(case.roles):
            things.append(binding("dif-new", "", user("dif-subject"), ROLE_ABSENT))
        for thing in things:
            code, said = self._server.try_to_create(case.user, thing)
            denied = code == 403 and webhooks.NOT_HELD in said and "webhook" not in said
            # A user who may not bind every role cannot bind a role that does not exist.
            absent = code == 404 and ROLE_ABSENT in said
            if code != 201:
                return (False if denied or absent else None), f"{code} {said}"
        return True, "allowed"


class Differential(WorldCase):
    """The webhooks' decisions, compared with the API server's."""

    def setUp(self) -> None:
        super().setUp()
        self.addCleanup(webhook_checks.end, self.world)
        webhooks.serve(self.world)
        self._server = Server(self.world)

    def tearDown(self) -> None:
        self._server.delete_ours()
        self.world.eventually("the templates' roles are gone",
                              lambda: (not (found := scope_checks.generated(self.world, "clusterroles")), found))

    def test_webhook_differential(self) -> None:
        """Random users may write a random ScopeTemplate or ScopeInstance exactly if they may write its ClusterRoles and bindings."""
        count, seed = int(os.environ.get("CASES", "2400")), int(os.environ.get("SEED", "1"))
        dice = Dice(seed)
        self.step(f"templates, and {count} random cases, SEED={seed}")
        templates = dice.templates()
        role_names = self._make_templates(templates)
        users = dice.users(templates, [name for names in role_names for name in names])
        cases = [dice.case(who, templates) for _, who in zip(range(count), itertools.cycle(users))]
        self._grant(users, templates)
        self._await_webhook()

        self.step("both decide")
        sides = Sides(self._server, templates, role_names)
        with ThreadPoolExecutor(THREADS) as pool:
            decisions = pool.map(lambda case: (sides.webhook(case), sides.api_server(case)), cases)
            answers = dict(enumerate(decisions))
        counts: collections.Counter[Any] = collections.Counter()
        for i, case in enumerate(cases):
            (allows, said), (would_allow, instead) = answers[i]
            if allows is None or allows != would_allow:
                raise self.failed(f"the same decisions in case {i} of SEED={seed}",
                                  f"{describe(case, templates)}\nthe webhook: {said}\nthe API server: {instead}")
            counts[allows] += 1
            counts.update((feature, allows) for feature in features(case, templates))
        self.expect(f"{count} equal decisions: {counts[True]} allowed, {counts[False]} denied, SEED={seed}",
                    min(counts[True], counts[False]) >= count / 5, counts)
        often = {key[0] for key in counts if isinstance(key, tuple) and counts[key[0], True] + counts[key[0], False] >= OFTEN}
        one_sided = sorted(feature for feature in often if not (counts[feature, True] and counts[feature, False]))
        self.expect(f"each of {len(often)} features was allowed to some and denied to others", not one_sided, one_sided)

    def _make_templates(self, templates: list[list[Rules]]) -> list[list[str]]:
        """Creates them, each with an instance, so that their ClusterRoles exist. Returns the names of these."""
        made = [scope_template(f"dif-{t}", roles, [generate_name(t, r) for r in range(len(roles))])
                for t, roles in enumerate(templates)]
        made += [scope_instance(f"dif-{t}", f"dif-{t}", ["kube-node-lease"]) for t in range(len(templates))]
        for thing in made:
            self._server.create(thing)

        def all_scoped() -> tuple[Any, Any]:
            waiting = [t for t in range(len(templates))
                       if condition(self.world, "scopeinstance", f"dif-{t}", "Scoped").get("status") != "True"]
            return not waiting, waiting
        self.world.eventually(f"the roles of {len(templates)} templates are bound", all_scoped)
        existing = [item["metadata"]["name"] for item in self.world.get("clusterroles")["items"]]
        return [[next(name for name in existing if name.startswith(f"scope-template:{generate_name(t, r)}"))
                 for r in range(len(roles))] for t, roles in enumerate(templates)]

    def _grant(self, users: list[User], templates: list[list[Rules]]) -> None:
        """Grants the users their rights, and waits until the API server's authorizer knows them."""
        writer = {"verbs": ["create"], "apiGroups": [RBAC, "operators.coreos.com"],
                  "resources": ["clusterroles", "rolebindings", "clusterrolebindings", "scopetemplates", "scopeinstances"]}
        writers = {"kind": "Group", "name": "dif-writers", "apiGroup": RBAC}
        roles, bindings = rights(users)
        roles += [role(f"dif-copy-{t}-{r}", rules) for t, some in enumerate(templates) for r, rules in enumerate(some)]
        roles.append(role("dif-writer", [writer]))
        bindings.append(binding("dif-writer", "", writers, "dif-writer"))
        with ThreadPoolExecutor(THREADS) as pool:
            list(pool.map(self._server.create, roles))
            list(pool.map(self._server.create, bindings))
        # The authorizer sees the objects of each kind in the order of their writes, so these are the last ones.
        rule = {"verbs": ["get"], "apiGroups": [""], "resources": ["configmaps"]}
        every = {"verbs": ["escalate"], "apiGroups": [RBAC], "resources": ["clusterroles"]}
        for last in (role("dif-last", [rule], "default"), role("dif-last", [every]),
                     binding("dif-last", "default", user(PROBE.name), "dif-last", "Role"),
                     binding("dif-last", "", user(PROBE.name), "dif-last")):
            self._server.create(last)
        self.world.eventually(f"{len(users)} users have the rights of {len(bindings)} bindings", lambda: (
            self.world.can(PROBE.name, "get", "configmaps", "default")
            and self.world.can(PROBE.name, "escalate", f"clusterroles.{RBAC}", "default"), "the last ones are missing"))

    def _await_webhook(self) -> None:
        """Creates the instances that wait for a template, and waits until the webhook has seen everything."""
        for i, some in enumerate(AWAITED):
            for j, (namespaces, selector) in enumerate(some):
                self._server.create(scope_instance(f"dif-late-{i}-{j}", f"dif-late-{i}", namespaces, selector))
        self._server.create(scope_instance("dif-last", "dif-last", []))
        held = {"verbs": ["escalate"], "apiGroups": [RBAC], "resources": ["clusterroles"]}
        self._server.create(scope_template("dif-last-held", [[held]], ["dif-last-"]))
        template = scope_template("dif-last", [[PODS]], ["dif-last-"])
        orphan = scope_instance("dif-new", "dif-last-held", [])

        def seen() -> tuple[Any, Any]:
            # The probe may write every role, and bind none but one whose rule it has.
            answers = (self._server.try_to_create(PROBE, template), self._server.try_to_create(PROBE, orphan))
            return [code for code, _ in answers] == [403, 201], answers
        self.world.eventually("the webhook knows all templates and instances", seen)
