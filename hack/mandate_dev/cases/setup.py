"""hack/setup on machines that lack something. Debian's programs are fakes.

usage: hack/setup_test [NAME…] [-k PATTERN]… [--list] [--junit FILE]

The last line is `N passed, N failed`.
"""
import os
import subprocess
import sys
import tempfile
import unittest
from collections.abc import Sequence

from mandate_dev import runner
from mandate_dev.paths import HACK

DEBIAN = 'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nID=debian\nVERSION_ID="12"\n'
UBUNTU = 'PRETTY_NAME="Ubuntu 24.04.1 LTS"\nID=ubuntu\nID_LIKE=debian\nVERSION_ID="24.04"\n'


class Machine(unittest.TestCase):
    """An empty cache folder, and a PATH with fake programs in front of Debian's own."""

    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory(prefix="mandate-setup-test-")
        self.addCleanup(scratch.cleanup)
        self.folder = scratch.name
        self.fakes, self.cache = (os.path.join(self.folder, name) for name in ("fakes", "cache"))
        os.mkdir(self.fakes)
        self.env = {"PATH": f"{self.fakes}:/usr/bin:/bin", "HOME": self.folder, "MANDATE_CACHE": self.cache}

    def fake(self, name: str, script: str) -> None:
        path = os.path.join(self.fakes, name)
        with open(path, "w", encoding="utf-8") as f:
            f.write(f"#!/bin/bash\n{script}\n")
        os.chmod(path, 0o755)

    def run_program(self, name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([os.path.join(HACK, name), *arguments], env=self.env, text=True, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=300)


class Setup(Machine):
    """`apt-get` writes down its arguments."""

    def setUp(self) -> None:
        super().setUp()
        self.log = os.path.join(self.folder, "apt")
        self.fake("apt-get", f'echo "$@" >>{self.log}; echo APT "$1" >&2')
        self.fake("sudo", 'exec "$@"')
        self.fake("dpkg-query", "echo 'install ok installed'")
        self.fake("dpkg", "echo amd64")
        self.env["OS_RELEASE"] = os.path.join(self.folder, "os-release")
        self.release(DEBIAN)

    def release(self, text: str) -> None:
        with open(self.env["OS_RELEASE"], "w", encoding="utf-8") as f:
            f.write(text)

    def installed(self) -> str:
        if not os.path.exists(self.log):
            return ""
        with open(self.log, encoding="utf-8") as f:
            return f.read()

    def on_a_terminal(self, answer: str) -> tuple[int, str]:
        """(exit code, output) of hack/setup on a terminal where a person types `answer`."""
        setup = os.path.join(HACK, "setup")
        script = f"import pty, os, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn([{setup!r}])))"
        done = subprocess.run([sys.executable, "-c", script], input=answer, env=self.env, text=True, capture_output=True,
                              timeout=300)
        return done.returncode, done.stdout

    def test_prints_nothing_if_everything_is_there(self) -> None:
        done = self.run_program("setup")
        self.assertEqual((0, "", ""), (done.returncode, done.stdout, done.stderr))
        self.assertEqual("", self.installed())

    def test_refuses_other_systems_before_it_changes_anything(self) -> None:
        self.fake("dpkg-query", "exit 1")
        debian_13 = DEBIAN.replace("12", "13")
        for text, machine, seen in ((UBUNTU, "amd64", "Ubuntu 24.04.1 LTS"), (debian_13, "amd64", "Debian GNU/Linux 13"),
                                    ("", "amd64", "an unknown system"), (DEBIAN, "arm64", "arm64")):
            with self.subTest(seen):
                self.release(text)
                self.fake("dpkg", f"echo {machine}")
                done = self.run_program("setup")
                self.assertEqual(1, done.returncode)
                self.assertEqual(1, len(done.stderr.splitlines()), done.stderr)
                self.assertIn(seen, done.stderr)
                self.assertIn("a container of Debian 12 on amd64, or the static rbacgen of a release", done.stderr)
                self.assertEqual(("", False), (self.installed(), os.path.exists(self.cache)))

    def test_says_first_what_it_installs(self) -> None:
        self.fake("dpkg-query", '[ "${!#}" = g++ ] && exit 1; echo install ok installed')
        done = self.run_program("setup")
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertLess(done.stderr.index("by apt-get (1): g++"), done.stderr.index("APT update"))
        self.assertIn(" g++\n", self.installed())

    def test_asks_on_a_terminal(self) -> None:
        self.fake("dpkg-query", "exit 1")
        code, output = self.on_a_terminal("n\n")
        self.assertEqual(1, code, output)
        self.assertIn("Install? [y/N]", output)
        self.assertEqual("", self.installed())

        code, output = self.on_a_terminal("y\n")
        self.assertEqual(0, code, output)
        self.assertIn("install", self.installed())

    def test_does_not_ask_if_SETUP_is_yes(self) -> None:
        self.fake("dpkg-query", "exit 1")
        self.env["SETUP"] = "yes"
        code, output = self.on_a_terminal("n\n")
        self.assertEqual(0, code, output)
        self.assertNotIn("[y/N]", output)
        self.assertIn("install", self.installed())


CASES = [Setup]


def main(argv: Sequence[str]) -> int:
    return runner.main("hack/setup_test", __doc__, CASES, argv)
