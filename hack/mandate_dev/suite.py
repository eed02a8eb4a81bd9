"""Runs every test: Bazel's, then the programs that need a real control plane, then the rules for the sources. Prints a
table and its sum.

usage: hack/test [--ci] [--on-cluster] [--runs N] [--junit FILE] [NAME]…

The last line is `N passed, N failed`; exit 0 only when nothing failed. A failing test prints its reason where it fails,
and the end of the output names every failure.

  --ci          adds the demo, with and without kills
  --on-cluster  only the programs, without Bazel's tests and the rules for the sources (//:test_on_cluster)
  --runs N      all of it N times, also the tests that Bazel has passed before; the end lists the failures of each run
  --junit FILE  writes the results of everything as JUnit XML
  NAME          only this: a program or rule of the table, or Bazel targets in place of //... (//manager/core/...)
"""
import argparse
import functools
import itertools
import os
import queue
import re
import shlex
import shutil
import sys
import tempfile
import threading
import time
import xml.etree.ElementTree
from collections.abc import Callable, Mapping, Sequence
from typing import IO

from mandate_dev import bazel, junit, paths, processes
from mandate_dev.paths import ROOT, cache
from mandate_dev.report import table

# Programs of unittest cases. Most start a control plane of their own, or Bazel. They run in two lanes, which take them in
# this order: first what takes longest, and what compiles while hack/e2e/run mostly waits.
PROGRAMS = [
    "hack/e2e/run",
    "hack/examples_test",
    "hack/component_test",
    "rbacgen/webhook/controller_gen_test",
    "hack/library_test",
    "hack/chart_test --helm3",
    "hack/chart_test",
    "testing/conformance/run",
    "hack/run_test",
    "hack/image_test",
    "rbacgen/builtin_cluster_test",
    "hack/docs_test",
    "testing/rbac_fidelity/run",
    "testing/environment/cluster_test",
    "testing/several_clusters/cluster_test",
    "hack/least_privilege_test",
    "hack/scoped_model_test",
    "manager/client/guard_cluster_test",
    "rbacgen/field_names_cluster_test",
    "rbacgen/crd_cluster_test",
    "rbacgen/go_docs_test",
    "hack/cluster_test",
    "hack/setup_test",
    "hack/package_test",
    "hack/test_test",
    "hack/mutation_test",
    "hack/bench_test",
    "hack/scoped_test",
]
ALONE = {"hack/bench_test", "hack/scoped_test"}  # they measure time
# Exit code 0 counts as one passed.
RULES = {
    "clang-format changes nothing": "git ls-files '*.h' '*.cc' | xargs clang-format --dry-run -Werror",
    "make manifests changes nothing": "hack/manifests --check",
    "python types and lint": f"cd hack && mypy --cache-dir={shlex.quote(cache('mypy'))} && pyflakes3 mandate_dev mandate_release && "
                             "cd .. && git grep -lE '^#!.*python3' | xargs pyflakes3",
    # Time and randomness are injected: only one place reads the clock, and only one draws a seed.
    "no other clock, sleep or seed":
        r"! git grep -nE 'absl::Now|\bsleep(_for|_until)?\(|SleepFor|(system|steady|high_resolution)_clock|random_device|BitGen' "
        r"-- 'manager/*.h' 'manager/*.cc' 'controllers/*.h' 'controllers/*.cc' 'cmd/*.cc' ':!*_test.cc' ':!*/testing/*' "
        r"':!manager/core/clock.cc' ':!cmd/program/program.cc' ':!controllers/*/main.cc'",
}
DEMOS = {"the demo": "hack/demo/demo", "the demo, with kills": "hack/demo/demo --kill"}
Row = Callable[[str, IO[str]], list[junit.Outcome]]  # runs it, with a folder for its files, and a file for its output
Results = dict[str, tuple[list[junit.Outcome], float]]  # (outcomes, seconds) by title


def run(command: str | Sequence[str], out: IO[str]) -> tuple[int, str]:
    return processes.show(command, ROOT, out=out)


def run_bazel(flags: Sequence[str], folder: str, out: IO[str]) -> list[junit.Outcome]:
    return bazel.test(functools.partial(run, out=out), flags, folder)


def program_results(code: int, path: str) -> list[junit.Outcome]:
    """Returns the outcomes that a program wrote; a non-zero exit code without a failed outcome is a failure, too."""
    try:
        outcomes = junit.read(path)
    except (OSError, xml.etree.ElementTree.ParseError):
        outcomes = []
    if junit.count(outcomes, junit.FAILED) == 0 and (code != 0 or not outcomes):
        outcomes.append(junit.Outcome("(see above)", junit.FAILED, text=f"exit {code}"))
    return outcomes


def run_program(command: str, folder: str, out: IO[str]) -> list[junit.Outcome]:
    path = os.path.join(folder, f"{command.replace('/', '_')}.xml")
    if os.path.exists(path):
        os.remove(path)
    code, _ = run([*command.split(), "--junit", path], out)
    return program_results(code, path)


def last_line_results(code: int, output: str) -> list[junit.Outcome]:
    """Returns as many outcomes as the last line counts, or one for a command without such a line."""
    said = re.findall(r"^(\d+) passed, (\d+) failed", output, re.MULTILINE)
    passed, failed = map(int, said[-1]) if said else (int(code == 0), 0)
    failure = junit.Outcome("(see above)", junit.FAILED, text=f"exit {code}")
    return [junit.Outcome(f"{n + 1} of {passed}") for n in range(passed)] + [failure] * (failed or int(code != 0))


def run_rule(name: str, command: str, _folder: str, out: IO[str]) -> list[junit.Outcome]:
    code, output = run(command, out)
    return [junit.Outcome(name, text=output) if code == 0 else junit.Outcome(f"exit {code}", junit.FAILED, text=output)]


def rows_of(options: argparse.Namespace) -> dict[str, Row]:
    """Returns the rows of one run, by name. Raises ValueError for an unknown name."""
    targets = [name for name in options.names if name.startswith(("//", "@"))]
    others: dict[str, Row] = {program: functools.partial(run_program, program) for program in PROGRAMS}
    others |= {name: functools.partial(run_rule, name, command) for name, command in {**RULES, **DEMOS}.items()}
    unknown = [name for name in options.names if name not in targets and name not in others]
    if unknown:
        raise ValueError(f"{unknown[0]!r} is neither a Bazel target nor one of: {', '.join(others)}")
    if not options.names:
        targets = [] if options.on_cluster else ["//..."]
        if options.on_cluster:
            others = {name: row for name, row in others.items() if name in PROGRAMS}
        elif not options.ci:
            others = {name: row for name, row in others.items() if name not in DEMOS}
    else:
        others = {name: row for name, row in others.items() if name in options.names}
    again = ["--nocache_test_results"] if options.runs > 1 else []
    flags = ["--keep_going", *again, *targets]
    first: dict[str, Row] = {f"bazel test {' '.join(targets)}": functools.partial(run_bazel, flags)} if targets else {}
    return first | others


def parse(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="hack/test", add_help=False, allow_abbrev=False)
    parser.add_argument("--ci", action="store_true")
    parser.add_argument("--on-cluster", action="store_true")
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--junit")
    parser.add_argument("-h", "--help", action="store_true")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args(argv)
    if options.runs < 1:
        parser.error("--runs: from 1 up")
    return options


def timed(row: Row, folder: str, out: IO[str]) -> tuple[list[junit.Outcome], float]:
    start = time.monotonic()
    outcomes = row(folder, out)
    return outcomes, time.monotonic() - start


class Rows:
    """Rows that several lanes share: each is taken once, in order."""

    def __init__(self, rows: Mapping[str, Row]) -> None:
        self._left = list(rows.items())
        self._mutex = threading.Lock()

    def take(self) -> tuple[str, Row] | None:
        with self._mutex:
            return self._left.pop(0) if self._left else None


class Lane:
    """Takes rows until none is left, in a thread, and keeps the output of each until it is shown."""

    def __init__(self, rows: Rows, folder: str) -> None:
        self._rows, self._folder = rows, folder
        self.results: Results = {}
        self._outputs: queue.SimpleQueue[tuple[str, str]] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work)
        self._thread.start()

    def _work(self) -> None:
        while taken := self._rows.take():
            name, row = taken
            with tempfile.TemporaryFile("w+", dir=self._folder) as out:
                try:
                    self.results[name] = timed(row, self._folder, out)
                except Exception as error:  # it would end with the thread, unseen
                    self.results[name] = ([junit.Outcome("(see above)", junit.FAILED, text=str(error))], 0)
                    out.write(f"{type(error).__name__}: {error}\n")
                out.seek(0)
                self._outputs.put((name, out.read()))

    def show(self) -> None:
        """Prints the outputs of the rows that ended since the last call."""
        while not self._outputs.empty():
            name, output = self._outputs.get()
            print(f"\n==> {name} (it ran beside others)\n{output}", end="", flush=True)

    def join(self) -> None:
        self._thread.join()
        self.show()


def run_in_lanes(rows: Mapping[str, Row], folder: str) -> Results:
    """Runs the rows in two lanes. The output of this thread's rows is shown as it comes, that of the others between them."""
    left = Rows(rows)
    first = left.take()
    beside = Lane(left, folder) if len(rows) > 1 else None
    results: Results = {}
    try:
        while first:
            name, row = first
            print(f"\n==> {name}", flush=True)
            results[name] = timed(row, folder, sys.stdout)
            if beside:
                beside.show()
            first = left.take()
    finally:
        if beside:
            beside.join()
    return results | (beside.results if beside else {})


def run_once(rows: dict[str, Row], folder: str) -> Results:
    """Returns the results of the rows in their order."""
    results: Results = {}
    for shared, names in itertools.groupby(rows, key=lambda name: name in PROGRAMS and name not in ALONE):
        group = {name: rows[name] for name in names}
        if shared:
            results |= run_in_lanes(group, folder)
        else:
            for name, row in group.items():
                print(f"\n==> {name}", flush=True)
                results[name] = timed(row, folder, sys.stdout)
    return {name: results[name] for name in rows}


def run_all(rows: dict[str, Row], runs: int, folder: str) -> Results:
    """Returns the results of each row of each run."""
    results: Results = {}
    for number in range(1, runs + 1):
        if runs > 1:
            print(f"\nRun {number} of {runs}", flush=True)
        for name, result in run_once(rows, folder).items():
            results[name + (f", run {number} of {runs}" if runs > 1 else "")] = result
    return results


def summarize(results: Results) -> int:
    """Prints the table, the failures and the sum. Returns the number of failures."""
    rows = [(title, junit.count(outcomes, junit.PASSED), junit.count(outcomes, junit.FAILED), f"{seconds:.0f}")
            for title, (outcomes, seconds) in results.items()]
    print("", *table(["", "passed", "failed", "seconds"], rows), sep="\n")
    failures = [f"{title}: {o.name}" for title, (outcomes, _) in results.items() for o in outcomes if o.status == junit.FAILED]
    if failures:
        print("\nFailed:", *failures, sep="\n  ")
    print(f"\n{junit.summary([o for outcomes, _ in results.values() for o in outcomes])}")
    return len(failures)


def main(argv: Sequence[str]) -> int:
    options = parse(argv)
    if options.help:
        print(__doc__.strip())
        return 0
    try:
        rows = rows_of(options)
    except ValueError as error:
        print(f"hack/test: {error}", file=sys.stderr)
        return 2
    folder = paths.new_folder("test")
    try:
        results = run_all(rows, options.runs, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if options.junit:
        # `bazel run` starts programs in its own folder.
        path = os.path.join(os.environ.get("BUILD_WORKING_DIRECTORY", ""), options.junit)
        junit.write(path, {title: outcomes for title, (outcomes, _) in results.items()})
    return int(summarize(results) > 0)
