"""Plays random programs of the scoped cache on a real kube-apiserver, next to the model of its invariants.

usage: hack/scoped_model_test [--runs=N] [--seed=SEED] [NAME…] [-k PATTERN]… [--list] [--junit FILE]

8 runs by default, with the seeds SEED (1), SEED+1 …; `--seed=7 --runs=1` replays one. The choices of a run depend on its
seed alone; the times of the answers are the server's. Each run has two to four components with ServiceAccounts of their
own, whose bindings and objects come and go; a few restart the API server. At the calm, the audit log must have exactly
the watches that the model expects. A failed run prints its seed and its first violation; the last line is
`N passed, N failed`.
"""
import json
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, ClassVar
from urllib.parse import parse_qs, urlsplit

from mandate_dev import bazel, runner
from mandate_dev.balancer import Balancer
from mandate_dev.cases import ClusterCase, ClusterFixture
from mandate_dev.demo import audit_log
from mandate_dev.report import StepFailed

ACCOUNTS = "model"  # the namespace of the ServiceAccounts
USER = f"system:serviceaccount:{ACCOUNTS}:mandate-manager-"
NAMESPACES = ["foo", "bar", "baz", "qux"]
COMPONENTS = "abcd"
OBJECTS = "01"  # single objects for which there is a role
RUN_SECONDS = 300
LOADED = 20  # seconds: a loaded machine may write the audit log that late
# Each of these must happen in twenty runs.
INTENDED = ["reads", "found", "newer", "not_found", "forbidden", "unavailable", "probes", "synced", "denied", "streams",
            "covered", "events", "hints", "silent", "handovers", "purges", "notified", "inner_reads", "cuts"]


def reader(name: str, names: Sequence[str] = ()) -> dict[str, Any]:
    """Returns the ClusterRole that lists and watches widgets, or only those of these names."""
    rule = {"apiGroups": ["example.com"], "resources": ["widgets"], "verbs": ["list", "watch"]}
    return {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": name},
            "rules": [rule | ({"resourceNames": list(names)} if names else {})]}


def manifests() -> list[dict[str, Any]]:
    schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": {"serial": {"type": "integer"}}}}}
    names = {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"}
    return [{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
             "metadata": {"name": "widgets.example.com"},
             "spec": {"group": "example.com", "scope": "Namespaced", "names": names,
                      "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}]}},
            *({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}} for name in [ACCOUNTS, *NAMESPACES]),
            *({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": f"mandate-manager-{name}", "namespace": ACCOUNTS}}
              for name in COMPONENTS),
            reader("model-reader"), *(reader(f"model-reader-{name}", [name]) for name in OBJECTS)]


class OpenWatches:
    """The open watches of the components, from an audit log that grows."""

    def __init__(self, path: str) -> None:
        self._path, self._offset = path, 0
        self._open: dict[str, tuple[str, str]] = {}  # by audit ID: the component and the scope

    def forget(self) -> None:
        """The server that served them has ended."""
        self.now()
        self._open.clear()

    def now(self) -> dict[str, list[str]]:
        """Returns the sorted scopes of each component that watches: "*", "foo", "foo/1" or "foo?color=red"."""
        with open(self._path, "rb") as f:
            f.seek(self._offset)
            whole, newline, _ = f.read().rpartition(b"\n")
        self._offset += len(whole + newline)
        for line in whole.splitlines():
            self._note(json.loads(line))
        found: dict[str, list[str]] = {}
        for component, scope in sorted(self._open.values()):
            found.setdefault(component, []).append(scope)
        return found

    def _note(self, event: audit_log.Event) -> None:
        user, ref = event["user"].get("username", ""), event.get("objectRef", {})
        if event["verb"] != "watch" or ref.get("resource") != "widgets" or not user.startswith(USER):
            return
        if event["stage"] == "ResponseStarted":
            if event.get("responseStatus", {}).get("code", 200) < 300:
                scope = "/".join(filter(None, [ref.get("namespace"), ref.get("name")])) or "*"
                selector = parse_qs(urlsplit(event["requestURI"]).query).get("labelSelector", [])
                self._open[event["auditID"]] = (user.removeprefix(USER), "?".join([scope, *selector]))
        else:
            self._open.pop(event["auditID"], None)


def parse_streams(words: Sequence[str]) -> dict[str, list[str]]:
    """Returns {"a": ["*", "foo"]} for ["a=*,foo,", "b="], the open streams as the program knows them."""
    pairs = [word.partition("=") for word in words]
    return {name: sorted(filter(None, scopes.split(","))) for name, _, scopes in pairs if scopes}


def parse_totals(words: Sequence[str]) -> Counter[str]:
    return Counter({name: int(value) for name, _, value in (word.partition("=") for word in words)})


def play(command: Sequence[str], answer: Callable[[str], str], seconds: float) -> tuple[list[str], Counter[str]]:
    """Runs the program and answers what it asks. Returns its violations and errors, and its totals."""
    wrong: list[str] = []
    totals: Counter[str] = Counter()
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as program:
        assert program.stdin is not None and program.stdout is not None
        watchdog = threading.Timer(seconds, program.kill)
        watchdog.start()
        other: list[str] = []
        try:
            for line in program.stdout:
                kind, _, rest = line.rstrip("\n").partition(" ")
                if kind == "ask":
                    print(answer(rest), file=program.stdin, flush=True)
                elif kind == "totals":
                    totals += parse_totals(rest.split())
                elif kind in ("violation", "error"):
                    wrong.append(rest if kind == "violation" else f"the run stopped: {rest}")
                else:
                    other.append(line)
            code = program.wait()
        finally:  # also after an interruption
            watchdog.cancel()
            program.kill()
    if code != 0 and not wrong:
        wrong.append(f"exit {code}: {''.join(other[-20:])}")
    return wrong, totals


class ControlPlane(ClusterFixture):
    """A control plane with the accounts and roles of the components, which reach it over connections that can be cut."""

    def start(self) -> None:
        super().start()
        self.cluster.stop("controller-manager")
        # The ServiceAccounts need no controllers, and the namespaces' own objects are not watched.
        self.cluster.kubectl("apply", "-f", "-", stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": manifests()}))
        self.cluster.kubectl("wait", "--for=condition=Established", "crd/widgets.example.com")
        self.watches = OpenWatches(self.cluster.audit_log)
        self.balancer = Balancer()
        self.balancer.backends = [self.cluster.port("apiserver")]

    def stop(self, keep_logs: bool) -> None:
        if hasattr(self, "balancer"):
            self.balancer.close()
        super().stop(keep_logs)

    def answer(self, question: str) -> str:
        """Does what a run asks for. Returns what is wrong, or nothing."""
        what, *words = question.split()
        if what == "restart":
            self.cluster.restart("apiserver")
            self.watches.forget()
        elif what == "cut":
            self.balancer.cut()
        elif what == "streams":
            return self.compare(parse_streams(words))
        else:
            return f"unknown request {question!r}"
        return ""

    def compare(self, expected: dict[str, list[str]]) -> str:
        """Waits until exactly these watches are open. One that only renews a proof of access ends soon."""
        deadline = time.monotonic() + LOADED
        while (found := self.watches.now()) != expected:
            if time.monotonic() > deadline:
                return f"the audit log has {found}, and the model {expected}"
            time.sleep(0.02)
        return ""


class ScopedModel(ClusterCase):
    fixture = ControlPlane
    runs: ClassVar[int] = 8
    seed: ClassVar[int] = 1

    def test_random_programs(self) -> None:
        """The invariants hold in each run."""
        program = bazel.program("//manager/cache/testing/real:scoped_model")
        plane = runner.shared(ControlPlane)
        totals: Counter[str] = Counter()
        for seed in range(self.seed, self.seed + self.runs):
            with self.subTest(f"seed {seed}"):
                command = [program, "--kubeconfig", plane.cluster.kubeconfig, "--seed", str(seed),
                           "--server", f"https://127.0.0.1:{plane.balancer.port}"]
                wrong, done = play(command, plane.answer, RUN_SECONDS)
                totals += done
                if wrong:
                    raise StepFailed(f"hack/scoped_model_test --seed={seed} --runs=1", "the invariants to hold", "\n".join(wrong))
        print(*(f"{name}={totals[name]}" for name in [*INTENDED, "restarts"]))
        if self.runs >= 20:
            with self.subTest("the intended events did happen"):
                self.assertEqual([], [name for name in INTENDED if totals[name] == 0])


def main(argv: Sequence[str]) -> int:
    parser = runner.Parser("hack/scoped_model_test", __doc__)
    parser.add_argument("--runs", type=int, default=ScopedModel.runs)
    parser.add_argument("--seed", type=int, default=ScopedModel.seed)
    options = parser.parse_args(argv)
    ScopedModel.runs, ScopedModel.seed = options.runs, options.seed
    return runner.run("hack/scoped_model_test", [ScopedModel], options)
