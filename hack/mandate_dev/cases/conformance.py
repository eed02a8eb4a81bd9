"""Runs all rows of testing/conformance on a real API server. Then runs rows behind a proxy that changes responses
("lies"): the rows that test the changed behaviour must fail.

usage: testing/conformance/run [--filter TEXT]… [NAME…] [-k PATTERN]… [--list] [--junit FILE]

With filters only those rows run, and no lies. Starts a private control plane and removes it. Each row and each lie
counts. The last line is `N passed, N failed`; the exit code is 0 only when nothing failed.
"""
import os
import re
import select
import subprocess
from collections.abc import Sequence
from typing import ClassVar

from mandate_dev import bazel, processes, runner
from mandate_dev.cases import ClusterCase, ClusterFixture
from mandate_dev.paths import ROOT

LYING_PROXY = os.path.join(ROOT, "testing", "conformance", "faulty_proxy")
PROXY_SECONDS = 300
# Each lie, and the rows that must fail behind the proxy with this lie, and pass behind the proxy without it.
LIES = {
    "drop-bookmarks": ["watchlist: an empty state is the bookmark alone", "watch: a bookmark moves past events"],
    "reorder-events": ["watch: two watches see the same events in the same order",
                       "watch: a watch from a resourceVersion brings the later events in order"],
    "double-events": ["watch: a finalizer makes a deletion a MODIFIED event first"],
    "lose-deletions": ["watch: a write that changes nothing is no event"],
    "allow-forbidden-delete": ["rbac: a verb that no rule has is forbidden"],
    "forget-preconditions": ["delete: delete with another uid as precondition conflicts"],
    "hide-gone": ["watch: a watch from before the history brings 410 as an event, and ends"],
    "say-ok": ["crud: create answers with the stored object and its system fields"],
    "omit-reasons": ["crud: create of a name that is taken is rejected"],
    "strip-managed-fields": ["rbac: a role without rules says so"],
    "shift-versions": ["crud: create answers with the stored object and its system fields"],
    "stale-lists": ["list: a list has all objects written before it and no deleted ones"],
}


class ConformanceFixture(ClusterFixture):
    flags = ("--apiserver-flag=--watch-cache-sizes=podtemplates#0",
             "--apiserver-flag=--enable-admission-plugins=OwnerReferencesPermissionEnforcement")

    def start(self) -> None:
        self.run_rows = bazel.program("//testing/conformance:run_rows")
        super().start()
        # A server that was never restarted has its whole history, but rows of expired history need one that does not.
        self.cluster.restart("apiserver")


class Conformance(ClusterCase):
    fixture = ConformanceFixture
    filters: ClassVar[list[str]] = []

    def command(self, kubeconfig: str, patience: int, filters: Sequence[str]) -> list[str]:
        """Returns the command of run_rows with these filters. patience: seconds that a row waits for the expected
        result."""
        restart_etcd = f"hack/cluster restart etcd --dir '{self.cluster.folder}' >/dev/null"
        return [runner.shared(ConformanceFixture).run_rows, "--kubeconfig", kubeconfig, "--patience", str(patience),
                "--audit-log", self.cluster.audit_log, "--etcd", f"https://127.0.0.1:{self.cluster.port('etcd')}",
                "--etcd-pki", self.cluster.path("pki"), "--restart-etcd", restart_etcd, "--uncached",
                "--owner-permissions", "--crds", "charts/mandate/crds", "--keep-namespaces", *[word for f in filters for word in ("--filter", f)]]

    def test_rows(self) -> None:
        command = self.command(self.cluster.kubeconfig, 120, self.filters)  # more than the default, for a loaded machine
        listed = subprocess.run([*command, "--list"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
        code, output = processes.show(command, ROOT)
        self.assertRegex(output, r"(?m)^\d+ passed, \d+ failed$", "the runner did not finish")
        bad = dict(re.findall(r"^(?:FAILED|SKIPPED) (.*)\n  (.*)", output, re.MULTILINE))
        rows = rows_of(listed)
        for row in rows:
            with self.subTest(row):
                self.assertNotIn(row, bad, bad.get(row))
        self.assertEqual((set(bad) - set(rows), code != 0), (set(), bool(bad)), "the runner and its list differ")

    def test_lies(self) -> None:
        if self.filters:
            self.skipTest("rows are filtered")
        for lie, rows in LIES.items():
            with self.subTest(f"{lie} is found by {', '.join(rows)}"):
                self.assertRegex(self.behind("none", rows, 120), rf"(?m)^{len(rows)} passed, 0 failed")
                output = self.behind(lie, rows, 3)
                for row in rows:
                    self.assertIn(f"FAILED {row}", output)

    def behind(self, lie: str, rows: Sequence[str], patience: int) -> str:
        """Returns the output of run_rows for these rows behind a proxy with this lie."""
        kubeconfig = os.path.join(self.folder, "proxy.kubeconfig")
        with subprocess.Popen([LYING_PROXY, "--cluster", self.cluster.folder, "--lie", lie, "--kubeconfig", kubeconfig],
                              stdout=subprocess.PIPE, stdin=subprocess.DEVNULL,
                              preexec_fn=processes.die_with_parent()) as proxy:
            try:
                ready, _, _ = select.select([proxy.stdout], [], [], PROXY_SECONDS)
                assert proxy.stdout is not None
                self.assertTrue(ready and proxy.stdout.readline(), "the proxy does not start")
                return subprocess.run(self.command(kubeconfig, patience, rows), cwd=ROOT, capture_output=True, text=True).stdout
            finally:
                proxy.terminate()


def rows_of(listed: str) -> list[str]:
    """Returns the rows that run_rows --list prints; its last line is their number."""
    return listed.splitlines()[:-1]


def main(argv: Sequence[str]) -> int:
    parser = runner.Parser("testing/conformance/run", __doc__)
    parser.add_argument("--filter", action="append", default=[])
    options = parser.parse_args(argv)
    Conformance.filters = options.filter
    return runner.run("testing/conformance/run", [Conformance], options)
