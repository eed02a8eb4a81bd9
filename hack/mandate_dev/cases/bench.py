"""The goals of the scoped cache (B15 of hack/bench) in small: every one can be measured, and those that count something are met.

usage: hack/bench_test [NAME…] [-k PATTERN]… [--list] [--junit FILE]

The last line is `N passed, N failed`.
"""
import unittest
from collections.abc import Sequence

from mandate_dev import runner
from mandate_dev.bench import peers, scoped, scoped_run

# Figures of time and memory depend on the machine and on its other work.
COUNTED = {"connections", "probes per second"}


class ScopedGoals(unittest.TestCase):
    figures: scoped.Figures
    failures: int

    @classmethod
    def setUpClass(cls) -> None:
        binaries = peers.ours(config="", programs=("bench", "scoped"))
        results, cls.failures = scoped_run.measure(scoped.measurements(scoped.QUICK), binaries, peers.fakeapi(), 1)
        cls.figures = next(iter(scoped_run.by_run(results)), {})

    def test_every_measurement_works(self) -> None:
        """Each measurement of B15 ends, and has the figures of its goals."""
        self.assertEqual(self.failures, 0)
        for goal in scoped.goals(scoped.QUICK):
            with self.subTest(f"{goal.id} {goal.workload}"):
                self.assertIsNotNone(scoped.figure_of(goal, self.figures))

    def test_counts(self) -> None:
        """The goals for streams, requests, connections, events, probes and log lines are met."""
        counted = [g for g in scoped.goals(scoped.QUICK) if g.limit is not None and (g.kind == "=" or g.metric in COUNTED)]
        self.assertEqual({g.id for g in counted}, {"G1", "G2", "G6", "G7", "G10"})
        for goal in counted:
            with self.subTest(f"{goal.id} {goal.workload}"):
                value = scoped.figure_of(goal, self.figures)
                assert value is not None
                self.assertTrue(scoped.is_met(goal, value), f"{value}, not {goal.kind} {goal.limit}")


def main(argv: Sequence[str]) -> int:
    return runner.main("hack/bench_test", __doc__, [ScopedGoals], argv)
