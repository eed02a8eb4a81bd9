"""Random writes, and an API server that is killed meanwhile: no write gets past the fences.

They are the components' writes of roles, bindings and events, base's requests for tokens, and the writes of roles and
bindings by a user who has all permissions on them and is not a component. Every write is a dry run, and the server answers
with the object as it would be stored. This file has its own rules for forbidden objects, so that a mistake in the
generated policies is detected. ATTEMPTS and SEED in the environment set the number of writes and the seed; the API
server is killed twice, and once more for each further thousand.
"""
import collections
import functools
import http.client
import json
import os
import random
import threading
import time
from typing import Any

from mandate_dev.cases.chart.chart_world import ChartCase, ChartWorld
from mandate_dev.cases.chart.things import INSTANCE, TEMPLATE, account, binding, event, owned_by, role, token_request, user
from mandate_dev.world import BASE, NAMESPACE

RBAC = "/apis/rbac.authorization.k8s.io/v1"
PATHS = {"ClusterRoleBinding": f"{RBAC}/clusterrolebindings", "RoleBinding": f"{RBAC}/namespaces/default/rolebindings",
         "ClusterRole": f"{RBAC}/clusterroles"}
EVENTS = {"events.k8s.io/v1": "/apis/events.k8s.io/v1/namespaces/default/events", "v1": "/api/v1/namespaces/default/events"}
AUDIENCE = "https://kubernetes.default.svc.cluster.local"
# Has all permissions on roles and bindings, and none on the finalizers of their owners.
EVE = "eve"
LABELS = {INSTANCE: ("operators.coreos.io/scopeInstanceUID", "operators.coreos.io/generateName"),
          TEMPLATE: ("operators.coreos.io/scopeTemplateUID", "operators.coreos.io/generateName")}
OWNERS = {INSTANCE: "ScopeInstance", TEMPLATE: "ScopeTemplate"}
MERGE, PATCH, APPLY = "application/merge-patch+json", "application/json-patch+json", "application/apply-patch+yaml"
BUILT_IN = ("cluster-admin", "admin", "edit", "view")
PREFIX = "scope-template:"
NEW, ROLE = f"{PREFIX}hunt-new", f"{PREFIX}hunt-role"


# Forbidden objects.
def is_of_a_template(name: str) -> bool:
    return name.startswith(PREFIX)


def controller(thing: Any) -> Any:
    return next((o for o in thing["metadata"].get("ownerReferences", []) if o.get("controller")), None)


def is_own(thing: Any, who: str) -> Any:
    owner = controller(thing)
    if owner is None:
        return LABELS[who][0] in thing["metadata"].get("labels", {})
    return owner["kind"] == OWNERS[who] and owner["apiVersion"].startswith("operators.coreos.com/")


def is_never_a_subject(subject: Any, namespace: str) -> Any:
    kind, name = subject["kind"], subject["name"]
    if kind == "ServiceAccount":
        return subject.get("namespace", namespace) == NAMESPACE
    if kind == "Group":
        return name in ("system:serviceaccounts", f"system:serviceaccounts:{NAMESPACE}", "system:authenticated",
                        "system:unauthenticated")
    return name == "system:anonymous" or name.startswith(f"system:serviceaccount:{NAMESPACE}:")


def wrongs(who: str, before: Any, after: Any) -> Any:
    """Returns the faults of a write that passed; `after` is None for a deletion, `before` for a creation."""
    found = [f"not its own, {when}" for when, thing in (("before", before), ("after", after)) if thing and not is_own(thing, who)]
    if after is None:
        return found
    old, new = (before or {"metadata": {}})["metadata"], after["metadata"]
    for key, value in new.get("labels", {}).items():
        if key not in LABELS[who] and old.get("labels", {}).get(key) != value:
            found.append(f"the label {key}")
    if set(new.get("finalizers", [])) - set(old.get("finalizers", [])):
        found.append("a finalizer")
    if before and controller(before) and (controller(after) or {}).get("uid") != controller(before)["uid"]:
        found.append("another controller")
    if after["kind"] == "ClusterRole":
        if before is None and not is_of_a_template(new["name"]):
            found.append(f"the name {new['name']}")
        if after.get("aggregationRule") and after["aggregationRule"] != (before or {}).get("aggregationRule"):
            found.append("an aggregationRule")
        return found
    if after["roleRef"]["kind"] != "ClusterRole" or not is_of_a_template(after["roleRef"]["name"]):
        found.append(f"the role {after['roleRef']['name']}")
    for subject in after.get("subjects", []):
        if subject not in (before or {}).get("subjects", []) and is_never_a_subject(subject, new.get("namespace", "")):
            found.append(f"the subject {subject['name']}")
    return found


def guard_wrongs(who: str, before: Any, after: Any) -> Any:
    """Returns the faults of another user's write to an object of this component."""
    if after is None:
        return []
    if before is None:
        return [f"the name {after['metadata']['name']}"] if after["kind"] == "ClusterRole" and is_of_a_template(
            after["metadata"]["name"]) else []
    if not is_own(before, who):
        return []
    old, new = before["metadata"], after["metadata"]
    found = [f"the label {key}" for key in LABELS[who] if old.get("labels", {}).get(key) != new.get("labels", {}).get(key)]
    if old.get("ownerReferences", []) != new.get("ownerReferences", []):
        found.append("the owners")
    if set(new.get("finalizers", [])) - set(old.get("finalizers", [])):
        found.append("a finalizer")
    return found


def token_wrongs(_: Any, after: Any) -> Any:
    spec = after["spec"]
    found = [] if spec["expirationSeconds"] <= 3600 else [f"{spec['expirationSeconds']} s"]
    found += [f"the audience {audience}" for audience in spec["audiences"] if audience not in (AUDIENCE, "k3s")]
    return found + (["bound to an object"] if spec.get("boundObjectRef") else [])


def event_wrongs(who: str, before: Any, after: Any) -> list[Any]:
    own = who.removeprefix(f"{BASE}-")
    return [f"an event of {thing.get('reportingController', thing.get('reportingComponent'))}, {when}"
            for when, thing in (("before", before), ("after", after))
            if thing and own not in (thing.get("reportingController"), thing.get("reportingComponent"))]

# Writes.
# judge(before, after): the faults of the write.
Attempt = collections.namedtuple("Attempt", "who key method path content_type body judge")


def subjects(dice: Any) -> Any:
    accounts = [{"kind": "ServiceAccount", "name": name, "namespace": namespace}
                for name in (BASE, INSTANCE, TEMPLATE, "default") for namespace in (NAMESPACE, "default", "kube-system")]
    names = [user(name) for name in ("ann", "system:anonymous", "system:admin", f"system:serviceaccount:{NAMESPACE}:{INSTANCE}",
                                     f"system:serviceaccount:{NAMESPACE}:{BASE}", "system:serviceaccount:default:default")]
    groups = [user(name, "Group") for name in ("devs", "system:authenticated", "system:unauthenticated", "system:masters",
                                               "system:serviceaccounts", f"system:serviceaccounts:{NAMESPACE}")]
    everybody = accounts + names + groups
    return dice.choices(everybody, k=dice.choice((0, 1, 1, 2)))


def labels(dice: Any, who: str) -> dict[str, Any]:
    choices = {LABELS[who][0]: "x", LABELS[who][1]: "y", "a": "b", "rbac.authorization.k8s.io/aggregate-to-admin": "true",
               LABELS[TEMPLATE if who == INSTANCE else INSTANCE][0]: "x"}
    weights = {LABELS[who][0]: 0.8, LABELS[who][1]: 0.3}
    return {key: value for key, value in choices.items() if dice.random() < weights.get(key, 0.07)}


def metadata(dice: Any, who: str, name: str) -> dict[str, Any]:
    made: dict[str, Any] = {"name": name, "labels": labels(dice, who)}
    if dice.random() < 0.4:
        made["ownerReferences"] = owned_by(dice.choice((OWNERS[who], OWNERS[who], "ScopeTemplate", "ConfigMap")))
        made["ownerReferences"][0]["controller"] = dice.random() < 0.8
    if dice.random() < 0.07:
        made["finalizers"] = ["a.io/x"]
    return made


def random_thing(dice: Any, who: str, standing: Any) -> Any:
    """Returns a body for a write by this component."""
    other = dice.choice((NEW, NEW, f"{PREFIX}hunt-other", "hunt-other", *BUILT_IN, "system:node", f"{BASE}-x", TEMPLATE))
    name = dice.choice(standing) if standing and dice.random() < 0.6 else other
    meta = metadata(dice, who, name)
    if who == TEMPLATE:
        thing = dict(role(), metadata=meta)
        if dice.random() < 0.07:
            thing["aggregationRule"] = {"clusterRoleSelectors": [{"matchLabels": {"a": "b"}}]}
        return thing
    thing = dict(binding(dice.choice((ROLE, ROLE, ROLE, "hunt-role", "cluster-admin", "view", "system:node", TEMPLATE))),
                 metadata=meta, subjects=subjects(dice))
    thing["kind"] = dice.choice(("ClusterRoleBinding", "RoleBinding"))
    if thing["kind"] == "RoleBinding" and dice.random() < 0.1:
        thing["roleRef"]["kind"] = "Role"
    return thing


def random_request(dice: Any, standing: Any) -> Any:
    kind = dice.choice(("component",) * 5 + ("guard",) * 2 + ("token", "event", "event"))
    if kind == "token":
        return random_token_request(dice)
    if kind == "event":
        return random_event(dice)
    who = dice.choice((INSTANCE, TEMPLATE))
    if kind == "guard":
        return random_write(dice, standing, who, EVE, functools.partial(guard_wrongs, who))
    return random_write(dice, standing, who, f"system:serviceaccount:{NAMESPACE}:{who}", functools.partial(wrongs, who))


def random_write(dice: Any, standing: Any, who: str, sender: str, judge: Any) -> Any:
    """A write of a role or binding like this component's."""
    thing = random_thing(dice, who, [])
    kind = thing["kind"]
    named = [name for (k, name) in standing if k == kind]
    way = dice.choice(("create", "update", "merge", "json", "apply", "apply", "delete"))
    if way != "create" and (way != "apply" or dice.random() < 0.7):
        thing["metadata"]["name"] = dice.choice(named)
    name = thing["metadata"]["name"]
    path = f"{PATHS[kind]}/{name}"

    def attempt(method: str, to: str, content_type: str, body: Any) -> Any:
        return Attempt(sender, (kind, name), method, to, content_type, body, judge)
    if way == "create":
        if dice.random() < 0.1:
            thing["metadata"]["generateName"] = thing["metadata"].pop("name")
        return attempt("POST", PATHS[kind], "application/json", thing)
    if way == "update":
        return attempt("PUT", path, "application/json", thing)
    if way == "apply":
        return attempt("PATCH", f"{path}?fieldManager=hunt&force=true", APPLY, thing)
    if way == "delete":
        return attempt("DELETE", path, "application/json", None)
    parts = {part: thing[part] for part in ("subjects", "rules", "aggregationRule") if part in thing and dice.random() < 0.5}
    meta = {part: thing["metadata"].get(part) for part in ("labels", "ownerReferences", "finalizers") if dice.random() < 0.5}
    if way == "merge":
        if dice.random() < 0.2:
            meta["labels"] = {LABELS[who][0]: None}
        return attempt("PATCH", path, MERGE, {**parts, "metadata": meta})
    steps = [{"op": "add", "path": f"/{part}", "value": value} for part, value in parts.items()]
    steps += [{"op": "add", "path": f"/metadata/{part}", "value": value} for part, value in meta.items() if value]
    return attempt("PATCH", path, PATCH, steps)


def random_token_request(dice: Any) -> Any:
    name, spec = dice.choice((INSTANCE, TEMPLATE)), {}
    if dice.random() < 0.7:
        spec["expirationSeconds"] = dice.choice((600, 3599, 3600, 3601, 7200, 1 << 32))
    if dice.random() < 0.4:
        spec["audiences"] = dice.choices((AUDIENCE, "k3s", "vault", ""), weights=(4, 2, 1, 1), k=dice.choice((1, 2)))
    if dice.random() < 0.3:
        spec["boundObjectRef"] = {"apiVersion": "v1", "kind": dice.choice(("Secret", "Pod", "Node", "")),
                                  "name": dice.choice((name, "other", ""))}
    path = f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts/{name}/token"
    return Attempt(f"system:serviceaccount:{NAMESPACE}:{BASE}", ("TokenRequest", name), "POST", path, "application/json",
                   json.loads(token_request(**spec)), token_wrongs)


def random_event(dice: Any) -> Any:
    who = dice.choice((INSTANCE, TEMPLATE))
    own = who.removeprefix(f"{BASE}-")
    controller = dice.choice((own, own, "scope-template", "scope-instance", "kubelet", "", f"{own}-x", own.upper()))
    version, path = dice.choice(sorted(EVENTS.items()))
    judge = functools.partial(event_wrongs, who)
    sender = f"system:serviceaccount:{NAMESPACE}:{who}"
    if dice.random() < 0.4:
        thing = event(controller, "hunt-new")
        if version == "v1":
            thing = {"apiVersion": "v1", "kind": "Event", "metadata": thing["metadata"], "reportingComponent": controller,
                     "involvedObject": thing["regarding"], "type": "Normal", "reason": "x", "action": "y",
                     "source": {"component": dice.choice((own, "kubelet"))}, "reportingInstance": "x",
                     "eventTime": thing["eventTime"]}
        return Attempt(sender, ("Event", "hunt-new"), "POST", path, "application/json", thing, judge)
    name = dice.choice(EVENT_NAMES)
    field = "reportingController" if version != "v1" else "reportingComponent"
    change = {"note" if version != "v1" else "message": "changed"} if dice.random() < 0.5 else {field: controller}
    return Attempt(sender, ("Event", name), "PATCH", f"{path}/{name}", MERGE, change, judge)


class Server:
    """Requests of an administrator who impersonates a user; connects again when the server ends."""

    def __init__(self, world: ChartWorld) -> None:
        self._host = world.cluster.server().removeprefix("https://")
        self._context = world.cluster.tls()
        self._connection: http.client.HTTPSConnection | None = None

    def ask(self, who: str, method: str, path: str, content_type: str = "application/json", body: Any = None) -> tuple[Any, Any]:
        """Returns (code, object). Raises OSError if the server is not reachable."""
        headers = {"Content-Type": content_type}
        if who:
            headers["Impersonate-User"] = who
        connection = self._connection = self._connection or http.client.HTTPSConnection(self._host, timeout=30,
                                                                                        context=self._context)
        try:
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            response = connection.getresponse()
            return response.status, json.loads(response.read())
        except (http.client.HTTPException, OSError, ValueError) as error:
            connection.close()
            self._connection = None
            raise OSError(str(error)) from error


STANDING: dict[str, dict[str, Any]] = {
    f"{PREFIX}hunt-own": dict(),
    f"{PREFIX}hunt-owned": dict(labels={}, ownerReferences=True),
    f"{PREFIX}hunt-foreign": dict(labels={"a": "b"}),
    f"{PREFIX}hunt-taken": dict(ownerReferences=False),
}


EVENT_NAMES = ("hunt-kubelet", "hunt-scope-template", "hunt-scope-instance")


def make_standing(world: ChartWorld) -> Any:
    """Creates objects of each kind as targets of writes; returns {(kind, name): object}."""
    made = {}
    for kind in PATHS:
        who = TEMPLATE if kind == "ClusterRole" else INSTANCE
        for name, marks in STANDING.items():
            thing = role() if who == TEMPLATE else binding(ROLE)
            meta: dict[str, Any] = {"name": name, "labels": {LABELS[who][0]: "x"}, **marks}
            if "ownerReferences" in marks:
                # No server serves this version, so garbage collection cannot find out that the owner does not exist.
                meta["ownerReferences"] = owned_by(OWNERS[who] if marks["ownerReferences"] else "ConfigMap")
                meta["ownerReferences"][0]["apiVersion"] = "operators.coreos.com/v0" if marks["ownerReferences"] else "hunt.io/v0"
            thing = {**thing, "kind": kind, "metadata": meta}
            created = world.kubectl("create", "-n", "default", "-o", "json", "-f", "-", stdin=json.dumps(thing))
            made[kind, name] = json.loads(created)
    for name in (*BUILT_IN, "system:node"):
        made["ClusterRole", name] = world.get("clusterrole", name)
    made["ClusterRoleBinding", "cluster-admin"] = world.get("clusterrolebinding", "cluster-admin")
    for name in EVENT_NAMES:
        created = world.kubectl("create", "-o", "json", "-f", "-", stdin=json.dumps(event(name.removeprefix("hunt-"), name)))
        made["Event", name] = json.loads(created)
    return made


def grant(world: ChartWorld) -> None:
    """Grants so many permissions that only the fences can deny the writes."""
    group = ["rbac.authorization.k8s.io"]
    for name, rules, subject in (
            ("hunt-eve", [{"apiGroups": group, "resources": ["clusterroles", "clusterrolebindings", "rolebindings"], "verbs": ["*"]}],
             user(EVE)),
            ("hunt-events", [{"apiGroups": ["", "events.k8s.io"], "resources": ["events"], "verbs": ["*"]}], None)):
        world.kubectl("create", "-f", "-", stdin=json.dumps(dict(role(name, labels={"a": "b"}), rules=rules)))
        bound = binding(name, subject, name=name, labels={"a": "b"})
        if subject is None:
            bound["subjects"] = [account(INSTANCE), account(TEMPLATE)]
        world.kubectl("create", "-f", "-", stdin=json.dumps(bound))


def until_it_answers(server: Any, *request: Any) -> Any:
    deadline = time.monotonic() + 60
    while True:
        try:
            return server.ask(*request)
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)  # the server is being killed: retry as early as possible


class Hunt(ChartCase):
    """Tests the fences with random writes."""

    def test_nothing_gets_past_the_fences(self) -> None:
        """Random writes that RBAC allows, while the API server is killed."""
        world = self.world
        attempts, seed = int(os.environ.get("ATTEMPTS", "2000")), int(os.environ.get("SEED", "1"))
        kills = max(2, attempts // 1000)
        world.stop_manager()
        self.step(f"{attempts} writes, seed {seed}, {kills} kills")
        standing = make_standing(world)
        grant(world)
        dice, server = random.Random(seed), Server(world)
        counts: collections.Counter[Any] = collections.Counter()
        killers: list[threading.Thread] = []
        try:
            for number in range(attempts):
                if number % (attempts // (kills + 1) or 1) == 0 and 0 < number and len(killers) < kills:
                    for killer in killers[-1:]:
                        killer.join()
                    killers.append(threading.Thread(target=world.kill_apiserver))
                    killers[-1].start()
                attempt = random_request(dice, standing)
                dry = f"{attempt.path}{'&' if '?' in attempt.path else '?'}dryRun=All"
                code, answer = until_it_answers(server, attempt.who, attempt.method, dry, attempt.content_type, attempt.body)
                sort = attempt.judge.func.__name__ if isinstance(attempt.judge, functools.partial) else attempt.judge.__name__
                if code >= 500 or code == 429:
                    counts["the server's own trouble"] += 1
                elif code >= 300:
                    fenced = "ValidatingAdmissionPolicy" in answer.get("message", "")
                    counts["denied by a fence" if fenced else "denied otherwise"] += 1
                    counts[sort, "denied"] += fenced
                else:
                    counts["passed"] += 1
                    counts[sort, "passed"] += 1
                    found = attempt.judge(standing.get(attempt.key), None if attempt.method == "DELETE" else answer)
                    if found:
                        raise self.failed(f"attempt {number} to be denied",
                                          f"{attempt.who}: {attempt.method} {attempt.path}\n{json.dumps(attempt.body)}\n"
                                          f"passed, for all of: {', '.join(found)}")
            sorts = {key: count for key, count in counts.items() if isinstance(key, tuple)}
            said = {what: count for what, count in counts.items() if isinstance(what, str)}
            self.expect(", ".join(f"{count} {what}" for what, count in sorted(said.items())),
                        counts["passed"] > attempts // 50 and counts["denied by a fence"] > attempts // 5, dict(counts))
            self.expect("some of each sort passed, and some were denied", len(sorts) == 8 and all(sorts.values()), sorts)
        finally:
            for killer in killers:
                killer.join()
            for kind in PATHS:
                world.kubectl("delete", "-n", "default", kind, *STANDING)
            world.kubectl("delete", "-n", "default", "event", *EVENT_NAMES)
            world.kubectl("delete", "clusterrole,clusterrolebinding", "hunt-eve", "hunt-events")
        world.restart_manager()
