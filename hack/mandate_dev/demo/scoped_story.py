"""Plays the ten steps of "Informers Based on RBAC": each does one thing and states the expected result."""
import json
import re
from collections.abc import Callable
from typing import Any

from mandate_dev.demo import audit, audit_log, scoped_bar
from mandate_dev.demo.scoped_world import OBSERVER, OBSERVER_USER, SETUP, USER, ScopedWorld, binding, memcached, name_in
from mandate_dev.report import Report, StepFailed, table
from mandate_dev.world import BASE

# Seconds: a proof of access lasts five minutes.
REVOCATION = 400
# When the cache asks again (docs/cache.md).
DENIAL = "asks again after 1 s, doubling to 48 s"
PROOF = "renews each proof of access within 5 min"
HINT = "gets a hint from access-observer"
DENIED = ('Not permitted to get Deployment: deployments.apps "memcached-sample-denied" is forbidden: '
          "Not permitted based on RBAC")
OWN = "memcacheds in the cluster"
RBAC = [f"{resource} in the cluster" for resource in ("clusterrolebindings", "clusterroles", "rolebindings", "roles")]


def needs(namespace: str) -> list[str]:
    return [f"deployments in namespace {namespace}", f"pods in namespace {namespace}"]


class Story:
    def __init__(self, world: ScopedWorld, report: Report) -> None:
        self.world, self.report = world, report
        self.mark = 0  # the part of the operator's log that was before the step
        self.seen = 0  # the audit events that were before the step
        self.measured: list[tuple[str, str, str]] = []

    def act(self, title: str, action: Callable[[], object]) -> None:
        """Begins a step, and does one thing."""
        self.report.step(title)
        self.mark = len(self.log())
        self.seen = len(self.world.events())
        action()

    def apply(self, thing: dict[str, Any]) -> str:
        return self.world.kubectl("apply", "-f", "-", stdin=json.dumps(thing))

    # The expected results.

    def log(self) -> str:
        with open(self.world.manager_log, encoding="utf-8", errors="replace") as f:
            return f.read()

    def logs(self, namespace: str, *messages: str) -> None:
        """The messages are in the step's part of the log, in this order."""
        def look() -> tuple[Any, Any]:
            lines = [line for line in self.log()[self.mark:].splitlines() if f"namespace={namespace}" in line]
            left = list(messages)
            for line in lines:
                if left and left[0] in line:
                    left.pop(0)
            return not left, f"no {left[:1]} in {lines[-8:]}"
        self.world.eventually(f"its log has for {namespace}: {', '.join(messages)}", look)

    def state_is(self, namespace: str, status: str, message: str, patience: float = 120) -> None:
        def look() -> tuple[Any, Any]:
            found = self.world.get("memcached", name_in(namespace), "-n", namespace).get("status", {})
            return found.get("state") == {"status": status, "message": message}, found
        self.world.eventually(f"{name_in(namespace)} is {status}: {message}", look, patience)

    def succeeds(self, namespace: str, patience: float = 120) -> None:
        self.state_is(namespace, "Succeeded", f"Deployment {name_in(namespace)} successfully created", patience)

    def nodes(self, namespace: str) -> list[str]:
        one = self.world.get("memcached", name_in(namespace), "-n", namespace)
        return list(one.get("status", {}).get("nodes", []))

    def runs(self, namespace: str, size: int) -> None:
        def look() -> tuple[Any, Any]:
            found = self.world.get("deployments,pods", "-n", namespace)["items"]
            ready = [f["status"].get("readyReplicas", 0) for f in found if f["kind"] == "Deployment"]
            pods = sorted(f["metadata"]["name"] for f in found if f["kind"] == "Pod")
            return ready == [size] and self.nodes(namespace) == pods, (ready, pods, self.nodes(namespace))
        self.world.eventually(f"{namespace} has a Deployment {size}/{size}, and status.nodes its {size} Pods", look)

    def streams_are(self, *namespaces: str) -> None:
        """The operator watches its own kind in the cluster, Deployments and Pods in these namespaces, and nothing else."""
        self.watches(USER, [OWN, *(scope for namespace in namespaces for scope in needs(namespace))])

    def watches(self, user: str, wanted: list[str], patience: float = 60) -> None:
        """These are the open watches of the user, each once."""
        def look() -> tuple[Any, Any]:
            scopes = audit_log.scopes(self.world.streams(user))
            return scopes == sorted(wanted), scopes
        self.world.eventually(f"open watches of {user.rsplit(f'{BASE}-', 1)[1]}: {len(wanted)}", look, patience)
        for scope in sorted(wanted):
            self.report.say(f"      {scope}")

    def requests_of_step(self) -> list[audit_log.Event]:
        return self.world.events()[self.seen:]

    def measure(self, what: str, bound: str, verb: str, resource: str, namespace: str, subresource: str = "",
                last: bool = False) -> None:
        """The time from the administrator's change of the RoleBinding to the operator's first such request, or the last one
        until now; `bound` is what limits it."""
        events = self.requests_of_step()
        change = next((e for e in events if e["user"].get("username") != USER
                       and any(audit_log.is_about(e, v, "rolebindings", namespace) for v in ("create", "patch", "delete"))), None)
        answers = [e for e in audit_log.of(events, USER) if audit_log.is_about(e, verb, resource, namespace, subresource)]
        seconds = audit_log.seconds_between(change, answers[-1 if last else 0]) if answers else None
        if seconds is None:
            raise StepFailed(self.report.current, f"a change of the RoleBinding, then {verb} {resource}", (change, answers))
        self.measured.append((what, f"{seconds:.1f}", bound))
        self.report.held(f"{what}: {seconds:.1f} s")

    def denials(self) -> dict[str, int]:
        """Returns the operator's denied requests since the step began."""
        return {what: count for what, count in audit_log.requests(audit_log.of(self.requests_of_step(), USER)).items()
                if re.search(r": 40[13]$", what)}


def play(world: ScopedWorld, report: Report) -> None:
    set_up(world, report)
    story = Story(world, report)
    start(story)
    permitted(story)
    denied(story)
    granted(story)
    revoked(story)
    observed(story)
    deleted(story)
    scoped_bar.play(story)
    audit.check(world, report)
    report.section("Measured, from the audit log")
    for line in table(("", "seconds", "because the cache"), story.measured):
        report.say(f"  {line}")


def set_up(world: ScopedWorld, report: Report) -> None:
    """Steps 1 and 2."""
    world.prepare()
    world.start_pods()
    report.section("Steps 1 to 3: the operator starts")
    report.step("an administrator grants it Memcacheds in the cluster, and Deployments and Pods in two namespaces")
    world.kubectl("apply", "-f", SETUP)
    for namespace in ("allowed-one", "allowed-two"):
        world.kubectl("apply", "-f", "-", stdin=json.dumps(binding(namespace)))
    report.held("granted")


def start(story: Story) -> None:
    """Step 3."""
    world = story.world
    story.report.step("the operator starts with base's token file and nothing else")
    world.start_manager()
    world.await_ready()
    story.streams_are()
    story.report.expect("no request was denied", not story.denials(), story.denials())
    log = story.log()
    story.report.expect("its log has: Starting workers", "Starting workers" in log, log[-2000:])


def permitted(story: Story) -> None:
    """Steps 4 to 6."""
    story.report.section("Steps 4 to 6: Memcacheds where it is permitted")
    story.act("a Memcached of size 2 in allowed-one, and one of size 3 in allowed-two", lambda: (
        story.apply(memcached("allowed-one", 2)), story.apply(memcached("allowed-two", 3))))
    for namespace, size in (("allowed-one", 2), ("allowed-two", 3)):
        story.logs(namespace, "Creating cache for memcached CR", "Starting EventSource", "Starting EventSource",
                   "Getting Deployment", "Creating a new Deployment")
        story.succeeds(namespace)
        story.runs(namespace, size)
        one = story.world.get("memcached", name_in(namespace), "-n", namespace)
        story.report.expect("it has the finalizer", one["metadata"]["finalizers"] == ["cache.example.com/finalizer"], one)
    story.streams_are("allowed-one", "allowed-two")


def denied(story: Story) -> None:
    """Step 7."""
    story.report.section("Step 7: a Memcached where it is not permitted")
    story.act("a Memcached of size 1 in denied", lambda: story.apply(memcached("denied", 1)))
    story.state_is("denied", "Failed", DENIED)
    story.logs("denied", "Creating cache for memcached CR", "Getting Deployment", "Not permitted to get Deployment")
    found = story.world.get("deployments", "-n", "denied")["items"]
    story.report.expect("no Deployment in denied", not found, found)
    story.streams_are("allowed-one", "allowed-two")
    story.report.say(f"      denied requests: {story.denials()}")

    story.act("the others are still reconciled: allowed-one gets the size 3", lambda: story.apply(memcached("allowed-one", 3)))
    story.runs("allowed-one", 3)


def granted(story: Story) -> None:
    """Step 8."""
    story.report.section("Step 8: the permission comes")
    story.act("a RoleBinding in denied; nobody edits the Memcached or restarts the operator", lambda: story.apply(binding("denied")))
    story.succeeds("denied")
    story.logs("denied", "Getting Deployment", "Creating a new Deployment", "Getting Deployment")
    story.runs("denied", 1)
    story.streams_are("allowed-one", "allowed-two", "denied")
    story.measure("grant to Deployment created (step 8)", DENIAL, "patch", "deployments", "denied")


def revoked(story: Story) -> None:
    """Step 9."""
    story.report.section("Step 9: the permission goes")
    nodes = story.nodes("denied")
    story.act("the RoleBinding in denied is deleted", lambda: revoke(story))
    story.runs("denied", 1)

    story.act("the Memcached is edited: size 2", lambda: story.apply(memcached("denied", 2)))
    story.state_is("denied", "Failed", DENIED)
    story.logs("denied", "Getting Deployment", "Not permitted to get Deployment")
    story.report.expect("status.nodes stays as it was", story.nodes("denied") == nodes, story.nodes("denied"))
    story.streams_are("allowed-one", "allowed-two")

    story.act("a RoleBinding again; nobody edits the Memcached", lambda: story.apply(binding("denied")))
    story.succeeds("denied")
    story.runs("denied", 2)
    story.measure("grant after an edit while denied, to Deployment changed (9b)", DENIAL, "patch", "deployments", "denied")

    nodes = story.nodes("denied")
    story.act("the RoleBinding is deleted, and nothing else happens (a proof of access lasts up to 5 minutes)",
              lambda: revoke(story))
    story.state_is("denied", "Failed", DENIED, REVOCATION)
    # The watches of Pods and Deployments are proven at different times.
    story.measure("silent revocation to status Failed (9c)", PROOF, "patch", "memcacheds", "denied", "status")
    story.measure("silent revocation to the message of step 7 (9c)", PROOF, "patch", "memcacheds", "denied", "status", last=True)
    story.report.expect("status.nodes stays as it was", story.nodes("denied") == nodes, story.nodes("denied"))
    story.streams_are("allowed-one", "allowed-two")
    story.succeeds("allowed-one")
    story.report.say(f"      denied requests: {story.denials()}")

    story.act("a RoleBinding again; nobody edits the Memcached", lambda: story.apply(binding("denied")))
    story.succeeds("denied")
    story.measure("grant after a silent revocation, to status Succeeded (9d)", DENIAL, "patch", "memcacheds", "denied", "status",
                  last=True)
    story.streams_are("allowed-one", "allowed-two", "denied")


def observed(story: Story) -> None:
    """Step 9 again, with a component that watches RBAC."""
    story.report.section("Step 9 with access-observer")
    story.act("an administrator lets access-observer watch RBAC (it asks again within about a minute)",
              lambda: story.world.kubectl("apply", "-f", OBSERVER))
    # It has been denied for minutes, and asks once a minute.
    story.watches(OBSERVER_USER, RBAC, 120)
    nodes = story.nodes("denied")
    story.act("the RoleBinding is deleted, and nothing else happens", lambda: revoke(story))
    story.state_is("denied", "Failed", DENIED)
    story.measure("revocation to status Failed, with access-observer (9c)", HINT, "patch", "memcacheds", "denied", "status")
    story.report.expect("status.nodes stays as it was", story.nodes("denied") == nodes, story.nodes("denied"))
    story.streams_are("allowed-one", "allowed-two")
    story.act("a RoleBinding again; nobody edits the Memcached", lambda: story.apply(binding("denied")))
    story.succeeds("denied")
    story.measure("grant to status Succeeded, with access-observer (9d)", HINT, "patch", "memcacheds", "denied", "status", last=True)
    story.streams_are("allowed-one", "allowed-two", "denied")


def deleted(story: Story) -> None:
    """Step 10."""
    story.report.section("Step 10: the Memcached is deleted while it is not permitted")
    name = name_in("denied")
    story.act("the RoleBinding is deleted, and then the Memcached", lambda: (
        revoke(story), story.world.kubectl("delete", "memcached", name, "-n", "denied", "--timeout=60s")))
    story.logs("denied", "Memcached is being deleted", "Removing ResourceCache", "ResourceCache successfully removed",
               "Memcached resource not found. Ignoring since object must be deleted")
    story.streams_are("allowed-one", "allowed-two")

    def look() -> tuple[Any, Any]:
        left = [item["metadata"]["name"] for item in story.world.get("deployments,pods", "-n", "denied")["items"]]
        return not left, left
    story.world.eventually("garbage collection deletes its Deployment and Pods", look)


def revoke(story: Story) -> str:
    return story.world.kubectl("delete", "rolebinding", "op-rolebinding-default", "-n", "denied")
