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

    def test_rows_run_beside_another_one(self) -> None:
        builder_runs = threading.Event()
        done: list[str] = []

        def waits(_folder: str, _out: IO[str]) -> list[Outcome]:
            # It ends only if the other row runs at the same time.
            return [Outcome("waited")] if builder_runs.wait(10) else [Outcome("alone", FAILED)]

        def builds(name: str, _folder: str, out: IO[str]) -> list[Outcome]:
            builder_runs.set()
            done.append(name)
            out.write(f"output of {name}\n")
            if name == "hack/library_test":
                raise OSError("no space left")
            return [Outcome("built")]

        others = suite.BESIDE["hack/e2e/run"]
        rows: dict[str, suite.Row] = {"hack/docs_test": lambda *_: [Outcome("docs")], "hack/e2e/run": waits}
        rows |= {name: functools.partial(builds, name) for name in others}
        with contextlib.redirect_stdout(io.StringIO()) as shown, tempfile.TemporaryDirectory() as folder:
            results = suite.run_once(rows, folder)
        self.assertEqual(list(results), list(rows))
        self.assertEqual(done, others, "one after the other, each once")
        self.assertEqual([n for n, (outcomes, _) in results.items() if junit.count(outcomes, FAILED)], ["hack/library_test"])
        text = shown.getvalue()
        self.assertLess(text.index("==> hack/e2e/run"), text.index("==> hack/component_test, beside hack/e2e/run\noutput of"))
        self.assertIn("OSError: no space left", text)

    def test_a_row_runs_alone_where_its_neighbour_does_not_run(self) -> None:
        rows: dict[str, suite.Row] = {name: lambda *_: [Outcome("a")] for name in suite.BESIDE["hack/e2e/run"]}
        with contextlib.redirect_stdout(io.StringIO()) as shown:
            results = suite.run_once(rows, "/none")
        self.assertEqual(list(results), list(rows))
        self.assertNotIn("beside", shown.getvalue())

    def test_a_last_line_counts_and_a_command_without_one_is_one(self) -> None:
        for code, output, wanted in ((1, "1 passed, 0 failed\n19 passed, 2 failed\n", (19, 2)), (0, "", (1, 0)), (3, "", (0, 1)),
                                     (1, "3 passed, 0 failed\n", (3, 1))):
            found = suite.last_line_results(code, output)
            self.assertEqual((junit.count(found, junit.PASSED), junit.count(found, FAILED)), wanted)
