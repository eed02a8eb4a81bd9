"""Compares manager/rbac with a real API server.

usage: testing/rbac_fidelity/run [--decisions=N] [--seed=SEED] [NAME…] [-k PATTERN]… [--list] [--junit FILE]

5000 decisions by default, with a seed that is printed and replays. Starts a private control plane and removes it. The
last line is `N passed, N failed`; the exit code is 0 only when everything agrees and every seeded bug is found.
"""
import random
from collections.abc import Sequence
from typing import ClassVar

from mandate_dev import bazel, processes, runner
from mandate_dev.cases import ClusterCase
from mandate_dev.paths import ROOT

BUGS = ["star-skips-subresources", "names-match-empty", "resource-holds-subresources", "paths-are-prefixes",
        "star-group-is-not-core", "star-subresource-is-literal", "names-hold-for-create", "rolebinding-leaks-to-cluster",
        "dangling-denies"]


class RbacFidelity(ClusterCase):
    decisions: ClassVar[int] = 5000
    seed: ClassVar[str] = "1"
    program: ClassVar[str]

    @classmethod
    def setUpClass(cls) -> None:
        cls.program = bazel.program("//testing/rbac_fidelity")
        super().setUpClass()

    def compare(self, title: str, *flags: str) -> None:
        print(f"\n== {title}", flush=True)
        with self.subTest(title):
            code, _ = processes.show([self.program, "--kubeconfig", self.cluster.kubeconfig, "--seed", self.seed, *flags], ROOT)
            self.assertEqual(code, 0)

    def test_decisions(self) -> None:
        self.compare(f"{self.decisions} access reviews, and 1000 requests and 500 grants for each 5000",
                     "--decisions", str(self.decisions))

    def test_seeded_bugs(self) -> None:
        for bug in BUGS:
            self.compare(f"a seeded bug must be found: {bug}", "--decisions", "5000", "--seed-bug", bug)


def main(argv: Sequence[str]) -> int:
    parser = runner.Parser("testing/rbac_fidelity/run", __doc__)
    parser.add_argument("--decisions", type=int, default=5000)
    parser.add_argument("--seed", default=str(random.randrange(1 << 30)))
    options = parser.parse_args(argv)
    RbacFidelity.decisions, RbacFidelity.seed = options.decisions, options.seed
    return runner.run("testing/rbac_fidelity/run", [RbacFidelity], options)
