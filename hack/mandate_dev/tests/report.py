"""Tests the printed output."""
import contextlib
import io
import unittest

from mandate_dev.report import Report, StepFailed, table


class Reports(unittest.TestCase):
    def printed(self) -> io.StringIO:
        out = io.StringIO()
        stack = contextlib.ExitStack()
        self.addCleanup(stack.close)
        stack.enter_context(contextlib.redirect_stdout(out))
        return out

    def test_colour_is_for_terminals(self) -> None:
        out = self.printed()
        report = Report()
        report.section("a")
        report.step("b")
        report.held("c")
        self.assertNotIn("\033", out.getvalue())
        self.assertRegex(out.getvalue(), r"^\na\n▸ b\n  ✓ c \(\d+\.\d s\)\n$")

    def test_an_expectation_that_does_not_hold_names_step_and_sight(self) -> None:
        self.printed()
        report = Report()
        report.step("the lights go out")
        report.expect("it is dark", True, "")
        with self.assertRaises(StepFailed) as raised:
            report.expect("it is quiet", [], ["a noise"])
        failure = raised.exception
        self.assertEqual((failure.step, failure.expected, failure.seen), ("the lights go out", "it is quiet", ["a noise"]))

    def test_columns_are_aligned(self) -> None:
        self.assertEqual(table(["", "passed"], [("a", 1), ("longer", 100)]), ["        passed", "a            1", "longer     100"])
