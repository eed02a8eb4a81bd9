"""JUnit files."""
import os
import tempfile
import unittest

from mandate_dev import junit
from mandate_dev.junit import FAILED, PASSED, SKIPPED, Outcome


class JUnit(unittest.TestCase):
    def test_what_is_written_is_read(self) -> None:
        outcomes = [Outcome("a", PASSED, 1.5, "", "Place"), Outcome("b <&>", FAILED, 0.0, "expected x\nsaw y", "Place"),
                    Outcome("c", SKIPPED, 0.0, "no Go here", "Place")]
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "results.xml")
            junit.write(path, {"program": outcomes, "another": []})
            self.assertEqual(junit.read(path), outcomes)

    def test_characters_that_xml_does_not_allow_are_removed(self) -> None:
        self.assertEqual(junit.printable("\033[31mred\033[0m\0 ✓\n"), "red ✓\n")

    def test_errors_of_other_tools_are_failures(self) -> None:
        with tempfile.NamedTemporaryFile("w", suffix=".xml") as f:
            f.write('<testsuite><testcase name="a" time="2"><error message="m"/></testcase></testsuite>')
            f.flush()
            self.assertEqual(junit.read(f.name), [Outcome("a", FAILED, 2.0, "m")])

    def test_the_last_line(self) -> None:
        self.assertEqual(junit.summary([Outcome("a"), Outcome("b", FAILED)]), "1 passed, 1 failed")
        self.assertEqual(junit.summary([Outcome("a", SKIPPED)]), "0 passed, 0 failed, 1 skipped")
