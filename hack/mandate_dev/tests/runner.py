"""Tests the runner with its own cases."""
import contextlib
import io
import os
import tempfile
import unittest
from collections.abc import Sequence
from typing import ClassVar
from unittest import mock

from mandate_dev import junit, processes, runner
from mandate_dev.report import StepFailed


class Sample(unittest.TestCase):
    """Not in this order by name."""

    def test_zebra(self) -> None:
        pass

    def test_apple(self) -> None:
        raise StepFailed("a step", "an apple", "a pear")

    @unittest.skip("no Go here")
    def test_skipped(self) -> None:
        pass

    def test_parts(self) -> None:
        for n in range(3):
            with self.subTest(f"part {n}"):
                self.assertNotEqual(n, 1)

    def test_parts_and_more(self) -> None:
        with self.subTest("one part"):
            pass
        self.fail("after the part")


class Unready(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        raise OSError("no cluster")

    def test_never(self) -> None:
        pass


class Good(unittest.TestCase):
    def test_good(self) -> None:
        pass


def run(cases: Sequence[type[unittest.TestCase]], *arguments: str) -> tuple[int, str]:
    """Returns (exit code, output) of a program with these cases."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out), mock.patch.object(processes, "interrupt_on_sigterm"):
        code = runner.main("program", "A program.", cases, arguments)
    return code, out.getvalue()


class Running(unittest.TestCase):
    def test_a_line_a_case_in_the_order_of_the_source(self) -> None:
        code, output = run([Sample])
        self.assertEqual(code, 1)
        lines = [line for line in output.splitlines() if line[:4] in ("ok  ", "FAIL", "skip")]
        self.assertEqual(lines, ["ok   zebra", "FAIL apple: a step", "skip skipped: no Go here", "ok   part 0",
                                 "FAIL part 1: 1 == 1", "ok   part 2", "ok   one part", "FAIL parts_and_more: after the part"])
        self.assertIn("  expected: an apple\n  seen:     a pear\n", output)
        self.assertEqual(output.splitlines()[-1], "4 passed, 3 failed, 1 skipped")

    def test_nothing_failed(self) -> None:
        self.assertEqual(run([Good]), (0, "ok   good\n\n1 passed, 0 failed\n"))

    def test_a_fixture_that_fails_is_a_failure(self) -> None:
        code, output = run([Unready, Good])
        self.assertEqual(code, 1)
        self.assertIn("FAIL setUpClass", output)
        self.assertIn("no cluster", output)
        self.assertEqual(output.splitlines()[-1], "1 passed, 1 failed")

    def test_junit(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "results.xml")
            run([Sample], "--junit", path)
            found = junit.read(path)
        self.assertEqual([(o.name, o.status) for o in found][:3],
                         [("zebra", junit.PASSED), ("apple", junit.FAILED), ("skipped", junit.SKIPPED)])
        self.assertEqual({o.place for o in found}, {"Sample"})

    def test_an_interrupt_stops_the_run(self) -> None:
        class Interrupted(unittest.TestCase):
            def test_one(self) -> None:
                raise KeyboardInterrupt

            def test_two(self) -> None:
                pass

        code, output = run([Interrupted])
        self.assertEqual((code, output), (130, "\nInterrupted.\n\n0 passed, 0 failed\n"))


class Choosing(unittest.TestCase):
    def test_names(self) -> None:
        for argument in ("zebra", "test_zebra", "Sample.zebra", "Sample.test_zebra"):
            with self.subTest(argument):
                self.assertEqual(run([Sample, Good], argument, "--list"), (0, "zebra\n"))
        self.assertEqual(run([Sample, Good], "Good", "--list"), (0, "good\n"))

    def test_patterns(self) -> None:
        self.assertEqual(run([Sample], "-k", "part", "--list"), (0, "parts\nparts_and_more\n"))
        self.assertEqual(run([Sample], "-k", "*parts", "--list"), (0, "parts\n"))
        self.assertEqual(run([Sample, Good], "-k", "zebra", "-k", "Good", "--list"), (0, "zebra\ngood\n"))

    def test_mistakes_are_one_line(self) -> None:
        code, output = run([Good], "bad")
        self.assertEqual((code, output), (2, "program: unknown case 'bad'; there are: good\n"))
        code, output = run([Good], "-k", "bad")
        self.assertEqual((code, output), (2, "program: no case matches 'bad'\n"))

    def test_help(self) -> None:
        out = io.StringIO()
        with contextlib.redirect_stdout(out), self.assertRaises(SystemExit) as ended:
            runner.main("program", "A program.", [Good], ["--help"])
        self.assertEqual(ended.exception.code, 0)
        self.assertIn("-k PATTERN", out.getvalue())


class Fixture:
    """Records its calls."""

    calls: ClassVar[list[str]] = []
    fails: ClassVar[bool] = False

    def start(self) -> None:
        self.calls.append("start")
        if self.fails:
            raise OSError("no cluster")

    def show_logs(self) -> None:
        self.calls.append("logs")

    def stop(self, keep_logs: bool) -> None:
        self.calls.append(f"stop, {'logs kept' if keep_logs else 'logs go'}")


class FailingFixture(Fixture):
    fails = True


class First(unittest.TestCase):
    fixture: type[Fixture] = Fixture

    def test_one(self) -> None:
        runner.shared(self.fixture)

    def test_two(self) -> None:
        runner.shared(self.fixture)


class Second(First):
    fixture = FailingFixture


class Sharing(unittest.TestCase):
    def setUp(self) -> None:
        Fixture.calls.clear()

    def test_it_is_started_once_and_stopped_at_the_end(self) -> None:
        self.assertEqual(run([First])[0], 0)
        self.assertEqual(Fixture.calls, ["start", "stop, logs go"])

    def test_one_that_does_not_start_fails_every_case_and_is_stopped(self) -> None:
        code, output = run([Second])
        self.assertEqual((code, output.splitlines()[-1]), (1, "0 passed, 2 failed"))
        self.assertEqual(Fixture.calls, ["start", "logs", "stop, logs kept"])
