"""Tests the verdicts of hack/bench, and the order of its runs."""
import contextlib
import io
import unittest

from mandate_dev.bench.command import in_turn, main, verdict
from mandate_dev.bench.tasks import Task

REVIEWS = Task("B13", "reviews", "webhook", {"cpu per review": None, "p99": 5000}, shares={"cpu per review": 0.2})
PACKED = Task("B14", "Pods", "pods", {"resident to wire": 0.35, "cpu": 1.5}, relative_to="uncompressed", relative=("cpu",))
RATE = Task("B2", "reconciles", "reconciles", {"items per second": 100}, at_least=("items per second",))


class Before(unittest.TestCase):
    def test_two_programs_change_places_in_each_round(self) -> None:
        ran: list[str] = []

        def one(name: str) -> int:
            ran.append(name)
            return len(ran)

        self.assertEqual(in_turn(["ours", "before"], 3, one), {"ours": [1, 4, 5], "before": [2, 3, 6]})
        self.assertEqual(ran, ["ours", "before", "before", "ours", "ours", "before"])

    def test_a_program_that_is_not_there_is_named_before_anything_is_built(self) -> None:
        with contextlib.redirect_stderr(io.StringIO()) as said, contextlib.redirect_stdout(io.StringIO()) as shown:
            self.assertEqual(main(["--before", "/none/bench", "B5"]), 2)
        self.assertIn("--before: /none/bench is not a program", said.getvalue())
        self.assertEqual(shown.getvalue(), "")


class Verdict(unittest.TestCase):
    def test_compares_with_a_share_of_the_peer(self) -> None:
        peer = {"cpu per review": 200.0, "p99": 9000}
        self.assertEqual(verdict(REVIEWS, {"cpu per review": 40, "p99": 5000}, None, peer), "met")
        self.assertEqual(verdict(REVIEWS, {"cpu per review": 50, "p99": 5000}, None, peer),
                         "missed: cpu per review ≤ 0.2 of controller-runtime's, is 0.25")

    def test_without_the_peer_only_the_figures_count(self) -> None:
        self.assertEqual(verdict(REVIEWS, {"cpu per review": 50, "p99": 4000}, None, None), "met")
        self.assertEqual(verdict(REVIEWS, {"cpu per review": 50, "p99": 5001}, None, None), "missed: p99 ≤ 5,000 µs")

    def test_without_the_peer_a_share_is_neither_met_nor_missed(self) -> None:
        shares_only = Task("B13", "reviews", "webhook", {"cpu per review": None}, shares={"cpu per review": 0.2})
        self.assertEqual(verdict(shares_only, {"cpu per review": 50}, None, None), "")
        self.assertEqual(verdict(shares_only, {"cpu per review": 50}, None, {"cpu per review": 300}), "met")

    def test_a_least_is_missed_below_it(self) -> None:
        self.assertEqual(verdict(RATE, {"items per second": 100}, None, None), "met")
        self.assertEqual(verdict(RATE, {"items per second": 90}, None, None), "missed: items per second ≥ 100 /s")

    def test_only_the_relative_metrics_are_compared_with_the_other_row(self) -> None:
        base = {"resident to wire": 1.1, "cpu": 2.0}
        self.assertEqual(verdict(PACKED, {"resident to wire": 0.35, "cpu": 3.0}, base, None), "met")
        self.assertEqual(verdict(PACKED, {"resident to wire": 0.4, "cpu": 4.0}, base, None),
                         "missed: resident to wire ≤ 0.35; cpu ≤ ×1.5, is ×2.00")
