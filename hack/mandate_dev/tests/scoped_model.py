"""The parts of hack/scoped_model_test that need no cluster."""
import json
import os
import socket
import sys
import tempfile
import unittest
from typing import Any

from mandate_dev.balancer import Balancer
from mandate_dev.cases import scoped_model
from mandate_dev.cases.scoped_model import USER, OpenWatches, manifests, parse_streams, play

PROGRAM = """
import sys
print("ask", "cut", flush=True)
answer = sys.stdin.readline().strip()
if answer: print("error", answer)
for kind in sys.argv[1:]: print(kind, "I5 at 1s: twice")
print("totals", "reads=3", "found=2")
sys.exit(len(sys.argv) > 1)
"""


def event(stage: str, audit_id: str, user: str = f"{USER}a", code: int = 200, query: str = "", **ref: str) -> dict[str, Any]:
    return {"verb": "watch", "requestURI": f"/widgets?watch=true{query}", "stage": stage, "auditID": audit_id, "user": {"username": user},
            "responseStatus": {"code": code}, "objectRef": {"resource": "widgets", **ref}}


class Watches(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = os.path.join(self.folder.name, "audit.log")
        self.write("")
        self.watches = OpenWatches(self.path)

    def write(self, *texts: str) -> None:
        with open(self.path, "a", encoding="ascii") as f:
            f.write("".join(texts))

    def note(self, *events: dict[str, Any]) -> None:
        self.write(*(json.dumps(e) + "\n" for e in events))

    def test_a_watch_is_open_from_its_acceptance_to_its_end(self) -> None:
        self.note(event("ResponseStarted", "1"), event("ResponseStarted", "2", namespace="foo"),
                  event("ResponseStarted", "3", f"{USER}b", namespace="foo", name="0"))
        self.assertEqual(self.watches.now(), {"a": ["*", "foo"], "b": ["foo/0"]})
        self.note(event("ResponseComplete", "1"))
        self.assertEqual(self.watches.now(), {"a": ["foo"], "b": ["foo/0"]})

    def test_a_selector_belongs_to_the_scope(self) -> None:
        self.note(event("ResponseStarted", "1", query="&labelSelector=color%3Dred", namespace="qux"))
        self.assertEqual(self.watches.now(), {"a": ["qux?color=red"]})

    def test_two_watches_of_a_scope_are_two(self) -> None:
        self.note(event("ResponseStarted", "1"), event("ResponseStarted", "2"))
        self.assertEqual(self.watches.now(), {"a": ["*", "*"]})

    def test_denied_and_foreign_watches_do_not_count(self) -> None:
        self.note(event("ResponseStarted", "1", code=403), event("ResponseStarted", "2", "admin"),
                  {**event("ResponseStarted", "3"), "verb": "list"},
                  {**event("ResponseStarted", "4"), "objectRef": {"resource": "pods"}})
        self.assertEqual(self.watches.now(), {})

    def test_half_a_line_waits_for_its_rest(self) -> None:
        line = json.dumps(event("ResponseStarted", "1"))
        self.write(line[:30])
        self.assertEqual(self.watches.now(), {})
        self.write(line[30:], "\n")
        self.assertEqual(self.watches.now(), {"a": ["*"]})

    def test_the_watches_of_a_server_end_with_it(self) -> None:
        self.note(event("ResponseStarted", "1"))
        self.watches.forget()
        self.assertEqual(self.watches.now(), {})


class Protocol(unittest.TestCase):
    def play(self, *kinds: str, answer: str = "") -> tuple[list[str], dict[str, int]]:
        self.asked: list[str] = []

        def reply(question: str) -> str:
            self.asked.append(question)
            return answer

        wrong, totals = play([sys.executable, "-c", PROGRAM, *kinds], reply, 60)
        return wrong, dict(totals)

    def test_a_run_that_passes(self) -> None:
        self.assertEqual(self.play(), ([], {"reads": 3, "found": 2}))
        self.assertEqual(self.asked, ["cut"])

    def test_violations_and_errors_fail_a_run(self) -> None:
        self.assertEqual(self.play("violation")[0], ["I5 at 1s: twice"])
        self.assertEqual(self.play("error")[0], ["the run stopped: I5 at 1s: twice"])
        self.assertEqual(self.play(answer="it is gone")[0], ["the run stopped: it is gone"])

    def test_a_crash_fails_a_run(self) -> None:
        wrong, _ = self.play("Segmentation fault:")
        self.assertEqual(wrong, ["exit 1: Segmentation fault: I5 at 1s: twice\n"])

    def test_streams(self) -> None:
        self.assertEqual(parse_streams(["a=foo,*,", "b=", "c=foo/1,"]), {"a": ["*", "foo"], "c": ["foo/1"]})

    def test_the_accounts_and_roles_are_those_of_the_program(self) -> None:
        names = {(m["kind"], m["metadata"]["name"]) for m in manifests()}
        for component in scoped_model.COMPONENTS:
            self.assertIn(("ServiceAccount", USER.rpartition(":")[2] + component), names)
        for name in ("model-reader", "model-reader-0", "model-reader-1"):
            self.assertIn(("ClusterRole", name), names)


class Cut(unittest.TestCase):
    def test_a_cut_ends_the_open_connections_only(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as backend:
            balancer = Balancer()
            self.addCleanup(balancer.close)
            balancer.backends = [backend.getsockname()[1]]
            for _ in range(2):
                with socket.create_connection(("127.0.0.1", balancer.port), timeout=60) as client:
                    end, _ = backend.accept()
                    with end:
                        client.sendall(b"x")
                        self.assertEqual(end.recv(1), b"x")
                        balancer.cut()
                        self.assertEqual((client.recv(1), end.recv(1)), (b"", b""))
