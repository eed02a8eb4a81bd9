"""Runs unittest cases and prints a line for each; the last line is `N passed, N failed`.

A case with subtests counts as its subtests. Cases run in the order in which they are written. A fixture that all cases of
a program share, such as a control plane, is `shared`: the first case that asks for it starts it, and it is stopped after
the last case.
"""
import argparse
import fnmatch
import sys
import time
import traceback
import unittest
from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import Any, Protocol, TypeVar

from mandate_dev import junit, processes
from mandate_dev.report import StepFailed

HELP = """
  NAME…          only these cases: a case, a class, or CLASS.CASE
  -k PATTERN     only the cases that have PATTERN in their name; with a *, those that match it; may be repeated
  --list         print the names of the cases
  --junit FILE   write the results as JUnit XML
"""
Cases = Sequence[type[unittest.TestCase]]
Error = tuple[type[BaseException], BaseException, TracebackType] | tuple[None, None, None]


class Fixture(Protocol):
    """A fixture that cases share. stop() is also called after a failed start()."""

    def start(self) -> None: ...

    def stop(self, keep_logs: bool) -> None: ...

    def show_logs(self) -> None: ...


F = TypeVar("F", bound=Fixture)
_shared: dict[Callable[[], Any], tuple[Any, BaseException | None]] = {}


def shared(make: Callable[[], F]) -> F:
    """Returns the fixture that `make` creates, which is started once in a program. Raises the error of its start
    again."""
    if make not in _shared:
        fixture = make()
        _shared[make] = (fixture, None)
        try:
            fixture.start()
        except Exception as error:
            _shared[make] = (fixture, error)
            fixture.show_logs()
    fixture, failure = _shared[make]
    if failure is not None:
        raise failure
    started: F = fixture
    return started


def stop_shared(keep_logs: bool) -> None:
    while _shared:
        _, (fixture, _) = _shared.popitem()
        fixture.stop(keep_logs)


def name_of(case: unittest.TestCase) -> str:
    return str(case.id()).rpartition(".")[2].removeprefix("test_")


class Result(unittest.TestResult):
    """Prints and collects the outcomes."""

    def __init__(self) -> None:
        super().__init__()
        self.outcomes: list[junit.Outcome] = []
        self._since = time.monotonic()
        self._case_began_at = 0

    def startTest(self, test: unittest.TestCase) -> None:
        super().startTest(test)
        self._since, self._case_began_at = time.monotonic(), len(self.outcomes)

    def _add(self, test: Any, name: str, status: str = junit.PASSED, text: str = "") -> None:
        now = time.monotonic()
        outcome = junit.Outcome(name, status, now - self._since, text, type(test).__name__)
        self._since = now
        self.outcomes.append(outcome)
        word = {junit.PASSED: "ok  ", junit.FAILED: "FAIL", junit.SKIPPED: "skip"}[status]
        seconds = f" ({outcome.seconds:.1f} s)" if outcome.seconds >= 0.1 else ""
        print(f"{word} {name}{f': {text}' if text else ''}{seconds}", flush=True)

    def _fail(self, test: Any, name: str, error: Error) -> None:
        self._add(test, name, junit.FAILED, describe(error))
        if (show := getattr(test, "show_logs", None)) is not None:
            show()

    def addSuccess(self, test: unittest.TestCase) -> None:
        super().addSuccess(test)
        if len(self.outcomes) == self._case_began_at:  # otherwise its subtests have been counted
            self._add(test, name_of(test))

    def addError(self, test: unittest.TestCase, err: Error) -> None:
        super().addError(test, err)
        # setUpClass has no case: its id is "setUpClass (module.Class)".
        self._fail(test, str(test.id()) if "(" in str(test.id()) else name_of(test), err)

    def addFailure(self, test: unittest.TestCase, err: Error) -> None:
        super().addFailure(test, err)
        self._fail(test, name_of(test), err)

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:
        super().addSkip(test, reason)
        self._add(test, name_of(test), junit.SKIPPED, reason)

    def addSubTest(self, test: unittest.TestCase, subtest: unittest.TestCase, err: Error | None) -> None:
        super().addSubTest(test, subtest, err)
        words: Any = subtest
        name = str(words._message) if isinstance(words._message, str) else words._subDescription()
        if err is None:
            self._add(test, name)
        else:
            self._fail(test, name, err)


def describe(error: Error) -> str:
    """Returns the error's text: the expectation of a failed step, or the place where another error was raised."""
    kind, value, trace = error
    if isinstance(value, StepFailed):
        return f"{value.step}\n  expected: {value.expected}\n  seen:     {value.seen}"
    lines = traceback.format_exception(kind, value, trace)
    return f"{(str(value) or type(value).__name__).strip()}\n{''.join(lines).rstrip()}"


class Loader(unittest.TestLoader):
    """Keeps the order of the source."""

    def getTestCaseNames(self, testCaseClass: type[unittest.TestCase]) -> list[str]:
        names: dict[str, None] = {}
        for base in reversed(testCaseClass.__mro__):
            names |= {n: None for n in vars(base) if n.startswith("test") and callable(getattr(base, n))}
        return list(names)


def each(suite: unittest.TestSuite) -> Iterator[unittest.TestCase]:
    for one in suite:
        if isinstance(one, unittest.TestSuite):
            yield from each(one)
        else:
            yield one


def is_named(case: unittest.TestCase, name: str) -> bool:
    kind = type(case).__name__
    short = name_of(case)
    return name in (kind, short, f"test_{short}", f"{kind}.{short}", f"{kind}.test_{short}")


def matches(case: unittest.TestCase, pattern: str) -> bool:
    full = f"{type(case).__name__}.{name_of(case)}"
    return fnmatch.fnmatchcase(full, pattern) if "*" in pattern else pattern in full


class Parser(argparse.ArgumentParser):
    """The flags that all test programs have; add_argument adds flags of one program."""

    def __init__(self, program: str, doc: str) -> None:
        super().__init__(prog=program, add_help=False, allow_abbrev=False)
        self._doc = doc
        self.add_argument("names", nargs="*")
        self.add_argument("-k", action="append", default=[], dest="patterns")
        self.add_argument("--list", action="store_true")
        self.add_argument("--junit")
        self.add_argument("-h", "--help", action="store_true")

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        options = super().parse_args(args, namespace)
        if options.help:
            print(f"{self._doc.strip()}\n{HELP.rstrip()}")
            sys.exit(0)
        return options


def choose(cases: Cases, options: argparse.Namespace) -> list[unittest.TestCase]:
    """Returns the cases that the flags choose. Raises LookupError for a name or a pattern that matches no case."""
    everything = [case for kind in cases for case in each(Loader().loadTestsFromTestCase(kind))]
    for name in options.names:
        if not any(is_named(case, name) for case in everything):
            raise LookupError(f"unknown case {name!r}; there are: {', '.join(map(name_of, everything))}")
    chosen = [case for case in everything
              if (not options.names or any(is_named(case, name) for name in options.names))
              and (not options.patterns or any(matches(case, pattern) for pattern in options.patterns))]
    if not chosen:
        raise LookupError(f"no case matches {', '.join(options.patterns)!r}")
    return chosen


def run(program: str, cases: Cases, options: argparse.Namespace) -> int:
    """Runs the chosen cases. Returns the exit code: 0, 1 if a case failed, 2 for wrong usage, 130 after an
    interruption."""
    try:
        chosen = choose(cases, options)
    except LookupError as error:
        print(f"{program}: {error.args[0]}", file=sys.stderr)
        return 2
    if options.list:
        print(*map(name_of, chosen), sep="\n")
        return 0
    processes.interrupt_on_sigterm()
    result = Result()
    interrupted = False
    try:
        unittest.TestSuite(chosen).run(result)
    except KeyboardInterrupt:
        print("\nInterrupted.", flush=True)
        interrupted = True
    finally:
        failed = junit.count(result.outcomes, junit.FAILED)
        stop_shared(keep_logs=failed > 0)
    if options.junit:
        junit.write(options.junit, {program: result.outcomes})
    print(f"\n{junit.summary(result.outcomes)}", flush=True)
    return 130 if interrupted else int(failed > 0)


def main(program: str, doc: str, cases: Cases, argv: Sequence[str]) -> int:
    """The main function of a test program without its own flags."""
    return run(program, cases, Parser(program, doc).parse_args(argv))
