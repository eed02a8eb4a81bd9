"""Tests what builds for arm64."""
import os
import sys
import tempfile
import unittest

from mandate_dev import arm64
from mandate_dev.paths import ROOT


class Arm64(unittest.TestCase):
    def test_the_packages_are_the_libraries_of_the_setup(self) -> None:
        with open(os.path.join(ROOT, "hack/setup"), encoding="utf-8") as f:
            packages = arm64.libraries(f.read())
        for package in ("libcurl4-openssl-dev", "libprotobuf-dev", "prometheus-cpp-dev", "libstdc++-12-dev"):
            self.assertIn(package, packages)
        for package in ("g++", "libclang-rt-14-dev", "bazel-bootstrap"):
            self.assertNotIn(package, packages)

    def test_a_setup_without_packages_is_an_error(self) -> None:
        with self.assertRaisesRegex(AssertionError, "no list of packages"):
            arm64.libraries("echo")

    def test_the_machine_of_a_program(self) -> None:
        self.assertEqual(arm64.machine(os.path.realpath(sys.executable)), 62)  # EM_X86_64
        with tempfile.NamedTemporaryFile() as f:
            with self.assertRaisesRegex(AssertionError, "not an ELF file"):
                arm64.machine(f.name)
