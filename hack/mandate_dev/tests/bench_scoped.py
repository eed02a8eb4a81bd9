"""Tests the table of B15 without a measurement."""
import unittest

from mandate_dev.bench import scoped
from mandate_dev.bench.scoped import Goal

FIGURES = {"one": {"rss": 100.0, "bytes": 1075.0, "object bytes": 925.0, "streams": 2.0}, "ten": {"rss": 129.0}}


class Goals(unittest.TestCase):
    def rows(self, *goals: Goal) -> list[tuple[str, ...]]:
        return [row[2:] for row in scoped.rows(list(goals), [FIGURES])]

    def test_a_figure_is_compared_with_its_limit(self) -> None:
        self.assertEqual(self.rows(Goal("G1", "", "one", "streams", 2, "="), Goal("G1", "", "one", "streams", 3, "="),
                                   Goal("G1", "", "one", "streams", 3, "≥"), Goal("G1", "", "one", "streams", 2, "≤", "/s")),
                         [("= 2", "2", "met"), ("= 3", "2", "missed"), ("≥ 3", "2", "missed"), ("≤ 2 /s", "2 /s", "met")])

    def test_a_figure_may_be_a_difference_or_a_multiple(self) -> None:
        self.assertEqual(self.rows(Goal("G4", "", "one", "bytes", 149, unit="B", minus="object bytes"),
                                   Goal("G4", "", "ten", "rss", 1.3, unit="×", relative_to="one")),
                         [("≤ 149 B", "150 B", "missed"), ("≤ ×1.3", "×1.29", "met")])

    def test_a_figure_that_is_missing_is_not_met(self) -> None:
        self.assertEqual(self.rows(Goal("G1", "", "two", "streams", 2), Goal("G4", "", "two", "rss", 1, relative_to="one")),
                         [("≤ 2", "", "not measured"), ("≤ 1", "", "not measured")])

    def test_a_figure_without_a_limit_is_only_shown(self) -> None:
        self.assertEqual(self.rows(Goal("G12", "", "one", "rss", unit="ms")), [("", "100 ms", "")])

    def test_a_figure_is_the_median_but_a_wrong_count_is_never_hidden(self) -> None:
        runs = [{"one": {"lost events": lost, "stop": stop}} for lost, stop in ((0.0, 3.0), (19.0, 1.0), (0.0, 2.0))]
        goals = [Goal("G7", "", "one", "lost events", 0, "="), Goal("G12", "", "one", "stop", 2)]
        self.assertEqual([row[2:] for row in scoped.rows(goals, runs)], [("= 0", "19", "missed"), ("≤ 2", "2", "met")])

    def test_every_goal_of_both_sizes_has_its_measurement(self) -> None:
        for sizes in scoped.Sizes(), scoped.QUICK:
            runs = scoped.measurements(sizes)
            goals = scoped.goals(sizes)
            self.assertEqual({g.run for g in goals} | {g.relative_to for g in goals if g.relative_to}, set(runs))
            self.assertEqual({g.id for g in goals}, {f"G{i}" for i in range(1, 13)})
