"""Tests how hack/test handles programs and flags."""
import contextlib
import functools
import io
import os
import tempfile
import threading
import unittest
from typing import IO

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

    def test_programs_run_in_two_lanes(self) -> None:
        lane_runs = threading.Event()
        done: list[str] = []

        def waits(_folder: str, _out: IO[str]) -> list[Outcome]:
            # It ends only if the other lane runs at the same time.
            return [Outcome("waited")] if lane_runs.wait(10) else [Outcome("alone", FAILED)]

        def builds(name: str, _folder: str, out: IO[str]) -> list[Outcome]:
            done.append(name)
            out.write(f"output of {name}\n")
            if name == "hack/component_test":
                lane_runs.set()
                raise OSError("no space left")
            return [Outcome("built")]

        rows: dict[str, suite.Row] = {"bazel test //...": lambda *_: [Outcome("bazel")], "hack/e2e/run": waits}
        rows |= {name: functools.partial(builds, name) for name in ("hack/examples_test", "hack/component_test", "hack/library_test")}
        with contextlib.redirect_stdout(io.StringIO()) as shown, tempfile.TemporaryDirectory() as folder:
            results = suite.run_once(rows, folder)
        self.assertEqual(list(results), list(rows))
        self.assertEqual(done, list(rows)[2:], "in order, each once")
        self.assertEqual([n for n, (outcomes, _) in results.items() if junit.count(outcomes, FAILED)], ["hack/component_test"])
        text = shown.getvalue()
        self.assertLess(text.index("==> hack/e2e/run"), text.index("==> hack/examples_test (it ran beside others)\noutput of"))
        self.assertIn("OSError: no space left", text)

    def test_what_measures_time_runs_alone(self) -> None:
        running: set[str] = set()

        def runs(name: str, _folder: str, _out: IO[str]) -> list[Outcome]:
            running.add(name)
            alone = running == {name}
            running.discard(name)
            return [Outcome(name, junit.PASSED if alone else FAILED)]

        self.assertLessEqual(suite.ALONE, set(suite.PROGRAMS))
        alone = [*sorted(suite.ALONE), *suite.RULES, *suite.DEMOS, "bazel test //..."]
        rows: dict[str, suite.Row] = {name: functools.partial(runs, name) for name in alone}
        with contextlib.redirect_stdout(io.StringIO()) as shown:
            results = suite.run_once(rows, "/none")
        self.assertEqual([o.name for outcomes, _ in results.values() for o in outcomes if o.status == FAILED], [])
        self.assertNotIn("beside", shown.getvalue())

    def test_a_single_program_needs_no_second_lane(self) -> None:
        with contextlib.redirect_stdout(io.StringIO()) as shown:
            results = suite.run_once({"hack/e2e/run": lambda *_: [Outcome("a")]}, "/none")
        self.assertEqual(list(results), ["hack/e2e/run"])
        self.assertEqual(shown.getvalue(), "\n==> hack/e2e/run\n")

    def test_a_last_line_counts_and_a_command_without_one_is_one(self) -> None:
        for code, output, wanted in ((1, "1 passed, 0 failed\n19 passed, 2 failed\n", (19, 2)), (0, "", (1, 0)), (3, "", (0, 1)),
                                     (1, "3 passed, 0 failed\n", (3, 1))):
            found = suite.last_line_results(code, output)
            self.assertEqual((junit.count(found, junit.PASSED), junit.count(found, FAILED)), wanted)
