"""The flags of hack/run, and what `stop` ends."""
import io
import os
import shlex
import subprocess
import tempfile
import unittest
from contextlib import redirect_stderr, redirect_stdout

from mandate_dev import processes, run


class Flags(unittest.TestCase):
    def test_the_verbosity_of_the_user_wins(self) -> None:
        for chosen in ("-v=3", "-v3", "-v 3", "--v=3", "--v 3", "--a=b -v=3"):
            self.assertEqual(run.manager_flags(chosen.split()), chosen.split())
        for others in ("", "--version", "--webhook-bind-address=127.0.0.1:1"):
            self.assertEqual(run.manager_flags(others.split()), ["-v=1", *others.split()])

    def test_flags_of_the_manager_follow_two_dashes(self) -> None:
        self.assertEqual(run.parse(["--webhooks", "--", "-v=3"]).flags, ["-v=3"])

    def test_an_operator_has_a_control_plane_of_its_own(self) -> None:
        own, operator = run.parse([]).dir, run.parse(["--operator", "/src/backup/"]).dir
        self.assertEqual(operator, f"{own}-backup")
        self.assertEqual(run.parse(["stop", "--operator", "/src/backup"]).dir, operator)
        self.assertEqual(run.parse(["--operator", "/src/backup", "--dir", "/tmp/x"]).dir, "/tmp/x")

    def test_what_is_printed_finds_the_same_control_plane(self) -> None:
        cases: list[list[str]] = [[], ["--dir", "/tmp/a b"], ["--operator", "/src/backup"], ["--operator", "/src/backup", "--dir", "/tmp/x"]]
        for flags in cases:
            given = {name: value for name, _, value in (word.partition("=") for word in shlex.split(run.names_of(run.parse(flags))))}
            again = [word for name, option in (("OPERATOR", "--operator"), ("DIR", "--dir")) if name in given
                     for word in (option, given[name])]
            self.assertEqual(run.parse(["stop", *again]).dir, run.parse(flags).dir)

    def test_a_program_without_its_operator_is_rejected(self) -> None:
        with redirect_stderr(io.StringIO()) as said:
            self.assertEqual(run.main(["--program", "//:x"]), 2)
        self.assertIn("--program needs --operator", said.getvalue())


class Stop(unittest.TestCase):
    def test_a_call_that_still_builds_ends(self) -> None:
        folder = tempfile.mkdtemp()
        with subprocess.Popen(["sleep", "300"]) as child:
            self.addCleanup(child.kill)
            run.write_state(folder, owner=None, manager=None, starting=processes.record(child.pid))
            with redirect_stdout(io.StringIO()):
                self.assertEqual(run.main(["stop", "--dir", folder]), 0)
            self.assertFalse(processes.is_alive(processes.record(child.pid)) and child.poll() is None)
        self.assertFalse(os.path.exists(folder))
