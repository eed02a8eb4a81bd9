"""Runs the test of testing/environment on a real control plane, and checks that nothing of it stays there.

usage: testing/environment/cluster_test [--dir DIR] [--port N] [-k PATTERN]… [--list] [--junit FILE]

Starts a control plane of its own in DIR (default: a new temporary folder) and stops it. The last line is
`N passed, N failed`; the exit code is 0 only when nothing failed.
"""
import os
import subprocess
import time
from collections.abc import Sequence

from mandate_dev import bazel
from mandate_dev.cases import ClusterCase, cluster_main
from mandate_dev.paths import ROOT

SHARED = "crd,clusterroles,clusterrolebindings"


class Environment(ClusterCase):
    def objects(self, kinds: str) -> set[str]:
        return set(self.cluster.kubectl("get", kinds, "-o", "name").split())

    def test_the_same_test_passes(self) -> None:
        shared, namespaces = self.objects(SHARED), self.objects("namespaces")
        for test in ("environment_test", "environment_failures_test"):
            program = bazel.program(f"//testing/environment:{test}")
            done = subprocess.run([program], cwd=ROOT, text=True, capture_output=True, timeout=1200,
                                  env={**os.environ, "MANDATE_TEST_KUBECONFIG": self.cluster.kubeconfig})
            self.assertEqual(0, done.returncode, done.stdout[-20000:] + done.stderr[-4000:])
        self.assertEqual(shared, self.objects(SHARED))
        # The API server deletes the content of a namespace before the namespace.
        deadline = time.monotonic() + 120
        while (left := self.objects("namespaces") - namespaces) and time.monotonic() < deadline:
            time.sleep(0.5)
        self.assertEqual(set(), left)


def main(argv: Sequence[str]) -> int:
    return cluster_main("testing/environment/cluster_test", __doc__, [Environment], argv)
