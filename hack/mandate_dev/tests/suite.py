"""Tests how hack/test handles programs and flags."""
import os
import tempfile
import unittest

from mandate_dev import junit, suite
from mandate_dev.junit import FAILED, Outcome


class Suite(unittest.TestCase):
    def results(self, code: int, outcomes: list[Outcome] | None) -> tuple[int, list[str]]:
        """(passed, failures)"""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "program.xml")
            if outcomes is not None:
                junit.write(path, {"program": outcomes})
            found = suite.program_results(code, path)
        return junit.count(found, junit.PASSED), [o.name for o in found if o.status == FAILED]

    def test_a_program_is_counted_by_its_cases(self) -> None:
        self.assertEqual(self.results(0, [Outcome("a"), Outcome("b")]), (2, []))
        self.assertEqual(self.results(1, [Outcome("a"), Outcome("b", FAILED)]), (1, ["b"]))

    def test_a_program_that_breaks_has_failed(self) -> None:
        self.assertEqual(self.results(1, [Outcome("a")]), (1, ["(see above)"]))
        self.assertEqual(self.results(-9, None), (0, ["(see above)"]))
        self.assertEqual(self.results(0, []), (0, ["(see above)"]))

    def test_rows(self) -> None:
        everything = list(suite.rows_of(suite.parse([])))
        self.assertEqual(everything, ["bazel test //...", *suite.PROGRAMS, *suite.RULES])
        self.assertEqual(list(suite.rows_of(suite.parse(["--ci"])))[-2:], list(suite.DEMOS))
        self.assertEqual(list(suite.rows_of(suite.parse(["hack/e2e/run", "//a:b"]))), ["bazel test //a:b", "hack/e2e/run"])
        with self.assertRaises(ValueError):
            suite.rows_of(suite.parse(["hack/none"]))

    def test_on_cluster_leaves_bazel_and_the_rules_out(self) -> None:
        programs = list(suite.rows_of(suite.parse(["--on-cluster"])))
        self.assertEqual(programs, suite.PROGRAMS)
        self.assertEqual(list(suite.rows_of(suite.parse(["--on-cluster", "hack/e2e/run"]))), ["hack/e2e/run"])

    def test_a_last_line_counts_and_a_command_without_one_is_one(self) -> None:
        for code, output, wanted in ((1, "1 passed, 0 failed\n19 passed, 2 failed\n", (19, 2)), (0, "", (1, 0)), (3, "", (0, 1)),
                                     (1, "3 passed, 0 failed\n", (3, 1))):
            found = suite.last_line_results(code, output)
            self.assertEqual((junit.count(found, junit.PASSED), junit.count(found, FAILED)), wanted)
