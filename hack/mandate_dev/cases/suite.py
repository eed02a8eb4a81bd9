"""A failing test prints its reason, through hack/bazel and through hack/test; no failure counts as passed; and every
program of hack/ answers --help.

usage: hack/test_test [NAME…] [-k PATTERN]… [--list] [--junit FILE]

The last line is `N passed, N failed`.
"""
import subprocess
import unittest
from collections.abc import Sequence

from mandate_dev import runner
from mandate_dev.paths import ROOT

FAILS = "//hack/testdata/failing:fails"
REASON = "expected the widget to be 42"

# command → (exit code, texts that its output must have, texts that it must not have)
CHECKS: dict[tuple[str, ...], tuple[int, list[str], list[str]]] = {
    ("hack/bazel", "test", FAILS): (3, [f"FAIL: {FAILS}", REASON], []),
    # The same test again: Bazel caches a test that passed, but never one that failed.
    ("hack/test", FAILS): (1, [REASON, f"{FAILS} FAILED", "0 passed, 1 failed"], []),
    ("hack/test", "--runs", "2", FAILS): (1, [REASON, f"run 2 of 2: {FAILS} FAILED", "0 passed, 2 failed"], []),
    ("hack/test", "//hack/testdata/failing:passes", FAILS): (1, [REASON, "1 passed, 1 failed"], ["a line of a test that passes"]),
    ("hack/test", "//hack/testdata/failing:passes"): (0, ["1 passed, 0 failed"], ["Failed:"]),
    # Two runs are two tests, even if nothing has changed.
    ("hack/test", "--runs", "2", "//hack/testdata/failing:passes"): (0, ["2 passed, 0 failed"], ["(cached)"]),
    ("hack/test", "//hack/testdata/failing:absent"): (1, ["0 passed, 1 failed", "the build"], []),
    ("hack/test", "hack/no_such_program"): (2, ["'hack/no_such_program' is neither"], ["==>"]),
    # The demo would write into this folder, and remove files.
    ("hack/demo/demo", "--dir", "hack"): (2, ["hack has other files"], ["Setting up"]),
    ("hack/demo/scoped", "--dir", "hack"): (2, ["hack has other files"], ["Setting up"]),
    ("hack/test", "--runs", "0"): (2, ["--runs"], ["==>"]),
}

# A user may try --help first: it must answer at once and do nothing else.
HELP = ["bench/run", "bench_test", "chart_test", "cluster", "cluster_test", "component", "component_test", "demo/demo", "demo/scoped", "e2e/run", "examples_test", "fuzz",
        "image", "install", "least_privilege_test", "library_test", "manifests", "mutation/run", "mutation_test", "nightly", "package_test", "release", "run", "run_test", "scoped_model_test", "scoped_test",
        "go", "setup", "setup_test", "test", "test_test"]


class HackTest(unittest.TestCase):
    def test_commands(self) -> None:
        for command, (code, wanted, unwanted) in CHECKS.items():
            done = subprocess.run(command, cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            with self.subTest(" ".join(command)):
                self.assertEqual(done.returncode, code, done.stdout)
                for text in wanted:
                    self.assertIn(text, done.stdout)
                for text in unwanted:
                    self.assertNotIn(text, done.stdout)

    def test_help(self) -> None:
        for name in HELP:
            done = subprocess.run([f"hack/{name}", "--help"], cwd=ROOT, text=True, capture_output=True)
            with self.subTest(f"hack/{name} --help"):
                self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
                self.assertIn("usage:", done.stdout)


def main(argv: Sequence[str]) -> int:
    return runner.main("hack/test_test", __doc__, [HackTest], argv)
