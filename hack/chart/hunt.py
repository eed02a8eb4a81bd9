"""Random writes in the components' names, and an API server that is killed meanwhile: nothing gets past the fences.

Every write is a dry run, and the server answers with the object as it would be stored. This file has rules of its own for
what such an object must not be, so that a mistake in the generated policies shows. ATTEMPTS and SEED in the environment
set the number of writes and the seed.
"""
import collections
import http.client
import json
import os
import random
import ssl
import threading
import time

from environment import BASE, NAMESPACE
from fences import INSTANCE, TEMPLATE, binding, expect, owned_by, role, user
from report import StepFailed

RBAC = "/apis/rbac.authorization.k8s.io/v1"
PATHS = {"ClusterRoleBinding": f"{RBAC}/clusterrolebindings", "RoleBinding": f"{RBAC}/namespaces/default/rolebindings",
         "ClusterRole": f"{RBAC}/clusterroles"}
LABELS = {INSTANCE: ("operators.coreos.io/scopeInstanceUID", "operators.coreos.io/generateName"),
          TEMPLATE: ("operators.coreos.io/scopeTemplateUID", "operators.coreos.io/generateName")}
OWNERS = {INSTANCE: "ScopeInstance", TEMPLATE: "ScopeTemplate"}
MERGE, PATCH, APPLY = "application/merge-patch+json", "application/json-patch+json", "application/apply-patch+yaml"
BUILT_IN = ("cluster-admin", "admin", "edit", "view")
PREFIX = "scope-template:"
NEW, ROLE = f"{PREFIX}hunt-new", f"{PREFIX}hunt-role"


# What may never be.

def is_of_a_template(name):
    return name.startswith(PREFIX)


def controller(thing):
    return next((o for o in thing["metadata"].get("ownerReferences", []) if o.get("controller")), None)


def is_own(thing, who):
    owner = controller(thing)
    if owner is None:
        return LABELS[who][0] in thing["metadata"].get("labels", {})
    return owner["kind"] == OWNERS[who] and owner["apiVersion"].startswith("operators.coreos.com/")


def is_never_a_subject(subject, namespace):
    kind, name = subject["kind"], subject["name"]
    if kind == "ServiceAccount":
        return subject.get("namespace", namespace) == NAMESPACE
    if kind == "Group":
        return name in ("system:serviceaccounts", f"system:serviceaccounts:{NAMESPACE}", "system:authenticated",
                        "system:unauthenticated")
    return name == "system:anonymous" or name.startswith(f"system:serviceaccount:{NAMESPACE}:")


def wrongs(who, before, after):
    """What is wrong with a write that passed; `after` is None where it deletes, `before` where it creates."""
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


# Writes.

def subjects(dice):
    accounts = [{"kind": "ServiceAccount", "name": name, "namespace": namespace}
                for name in (BASE, INSTANCE, TEMPLATE, "default") for namespace in (NAMESPACE, "default", "kube-system")]
    names = [user(name) for name in ("ann", "system:anonymous", "system:admin", f"system:serviceaccount:{NAMESPACE}:{INSTANCE}",
                                     f"system:serviceaccount:{NAMESPACE}:{BASE}", "system:serviceaccount:default:default")]
    groups = [user(name, "Group") for name in ("devs", "system:authenticated", "system:unauthenticated", "system:masters",
                                               "system:serviceaccounts", f"system:serviceaccounts:{NAMESPACE}")]
    everybody = accounts + names + groups
    return dice.choices(everybody, k=dice.choice((0, 1, 1, 2)))


def labels(dice, who):
    choices = {LABELS[who][0]: "x", LABELS[who][1]: "y", "a": "b", "rbac.authorization.k8s.io/aggregate-to-admin": "true",
               LABELS[TEMPLATE if who == INSTANCE else INSTANCE][0]: "x"}
    weights = {LABELS[who][0]: 0.8, LABELS[who][1]: 0.3}
    return {key: value for key, value in choices.items() if dice.random() < weights.get(key, 0.07)}


def metadata(dice, who, name):
    made = {"name": name, "labels": labels(dice, who)}
    if dice.random() < 0.4:
        made["ownerReferences"] = owned_by(dice.choice((OWNERS[who], OWNERS[who], "ScopeTemplate", "ConfigMap")))
        made["ownerReferences"][0]["controller"] = dice.random() < 0.8
    if dice.random() < 0.07:
        made["finalizers"] = ["a.io/x"]
    return made


def random_thing(dice, who, standing):
    """A body for a write by this component."""
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


def random_request(dice, standing):
    """(who, the object's kind and name, method, path, content type, body)"""
    who = dice.choice((INSTANCE, TEMPLATE))
    thing = random_thing(dice, who, [])
    kind = thing["kind"]
    named = [name for (k, name) in standing if k == kind]
    way = dice.choice(("create", "update", "merge", "json", "apply", "apply", "delete"))
    if way != "create" and (way != "apply" or dice.random() < 0.7):
        thing["metadata"]["name"] = dice.choice(named)
    name = thing["metadata"]["name"]
    path = f"{PATHS[kind]}/{name}"
    if way == "create":
        return who, (kind, name), "POST", PATHS[kind], "application/json", thing
    if way == "update":
        return who, (kind, name), "PUT", path, "application/json", thing
    if way == "apply":
        return who, (kind, name), "PATCH", f"{path}?fieldManager=hunt&force=true", APPLY, thing
    if way == "delete":
        return who, (kind, name), "DELETE", path, "application/json", None
    parts = {part: thing[part] for part in ("subjects", "rules", "aggregationRule") if part in thing and dice.random() < 0.5}
    meta = {part: thing["metadata"].get(part) for part in ("labels", "ownerReferences", "finalizers") if dice.random() < 0.5}
    if way == "merge":
        return who, (kind, name), "PATCH", path, MERGE, {**parts, "metadata": meta}
    steps = [{"op": "add", "path": f"/{part}", "value": value} for part, value in parts.items()]
    steps += [{"op": "add", "path": f"/metadata/{part}", "value": value} for part, value in meta.items() if value]
    return who, (kind, name), "PATCH", path, PATCH, steps


class Server:
    """As an administrator, in somebody's name; connects anew when the server goes."""

    def __init__(self, env):
        address = env.kubectl("config", "view", "--minify", "-o", "jsonpath={.clusters[0].cluster.server}")
        self._host = address.removeprefix("https://")
        pki = os.path.join(env.cluster_folder, "pki")
        self._context = ssl.create_default_context(cafile=os.path.join(pki, "ca.crt"))
        self._context.load_cert_chain(os.path.join(pki, "admin.crt"), os.path.join(pki, "admin.key"))
        self._connection = None

    def ask(self, who, method, path, content_type="application/json", body=None):
        """(code, object); OSError when the server is not there."""
        headers = {"Content-Type": content_type}
        if who:
            headers["Impersonate-User"] = f"system:serviceaccount:{NAMESPACE}:{who}"
        if self._connection is None:
            self._connection = http.client.HTTPSConnection(self._host, timeout=30, context=self._context)
        try:
            self._connection.request(method, path, None if body is None else json.dumps(body), headers)
            response = self._connection.getresponse()
            return response.status, json.loads(response.read())
        except (http.client.HTTPException, OSError, ValueError) as error:
            self._connection.close()
            self._connection = None
            raise OSError(str(error)) from error


STANDING = {
    f"{PREFIX}hunt-own": dict(),
    f"{PREFIX}hunt-owned": dict(labels={}, ownerReferences=True),
    f"{PREFIX}hunt-foreign": dict(labels={"a": "b"}),
    f"{PREFIX}hunt-taken": dict(ownerReferences=False),
}


def make_standing(env):
    """Objects of each sort to write to: {(kind, name): object}."""
    made = {}
    for kind in PATHS:
        who = TEMPLATE if kind == "ClusterRole" else INSTANCE
        for name, marks in STANDING.items():
            thing = role() if who == TEMPLATE else binding(ROLE)
            meta = {"name": name, "labels": {LABELS[who][0]: "x"}, **marks}
            if "ownerReferences" in marks:
                # A version that nobody serves: garbage collection cannot tell that there is no such owner.
                meta["ownerReferences"] = owned_by(OWNERS[who] if marks["ownerReferences"] else "ConfigMap")
                meta["ownerReferences"][0]["apiVersion"] = "operators.coreos.com/v0" if marks["ownerReferences"] else "hunt.io/v0"
            thing = {**thing, "kind": kind, "metadata": meta}
            created = env.kubectl("create", "-n", "default", "-o", "json", "-f", "-", stdin=json.dumps(thing))
            made[kind, name] = json.loads(created)
    for name in (*BUILT_IN, "system:node"):
        made["ClusterRole", name] = env.get("clusterrole", name)
    made["ClusterRoleBinding", "cluster-admin"] = env.get("clusterrolebinding", "cluster-admin")
    return made


def nothing_gets_past_the_fences(env, report):
    """Random writes by the components, of all that RBAC allows them, while the API server is killed."""
    attempts, seed = int(os.environ.get("ATTEMPTS", "2000")), int(os.environ.get("SEED", "1"))
    env.stop_manager()
    report.step(f"{attempts} writes, seed {seed}")
    standing = make_standing(env)
    killer = threading.Thread(target=lambda: [env.kill_apiserver() for _ in range(2)])
    dice, server, counts = random.Random(seed), Server(env), collections.Counter()
    try:
        for number in range(attempts):
            if number == attempts // 3:
                killer.start()
            who, key, method, path, content_type, body = random_request(dice, standing)
            dry = f"{path}{'&' if '?' in path else '?'}dryRun=All"
            code, answer = until_it_answers(server, who, method, dry, content_type, body)
            if code >= 500 or code == 429:
                counts["the server's own trouble"] += 1
            elif code >= 300:
                fenced = "ValidatingAdmissionPolicy" in answer.get("message", "")
                counts["refused by a fence" if fenced else "refused otherwise"] += 1
            else:
                counts["passed"] += 1
                found = wrongs(who, standing.get(key), None if method == "DELETE" else answer)
                if found:
                    raise StepFailed(report.current, f"attempt {number} to be refused",
                                     f"{who}: {method} {path}\n{json.dumps(body)}\npassed, for all of: {', '.join(found)}")
        if killer.ident:
            killer.join()
        expect(report, ", ".join(f"{count} {what}" for what, count in sorted(counts.items())),
               counts["passed"] > attempts // 50 and counts["refused by a fence"] > attempts // 5, dict(counts))
    finally:
        for kind in PATHS:
            env.kubectl("delete", "-n", "default", kind, *STANDING)
    env.restart_manager()


def until_it_answers(server, *request):
    deadline = time.monotonic() + 60
    while True:
        try:
            return server.ask(*request)
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)  # the server is being killed: it is asked as early as it can be
