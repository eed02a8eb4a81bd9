"""Bazel's event file."""
import json
import os
import tempfile
import unittest
from typing import Any

from mandate_dev import bazel
from mandate_dev.junit import FAILED, PASSED, Outcome


def summary(label: str, status: str, **more: Any) -> dict[str, Any]:
    return {"id": {"testSummary": {"label": label}},
            "testSummary": {"overallStatus": status, "totalRunDurationMillis": "1500", **more}}


class Events(unittest.TestCase):
    def results(self, code: int, *events: Any, text: str | None = None) -> list[Outcome]:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "events.json")
            with open(path, "w", encoding="utf-8") as f:
                f.write("\n".join(map(json.dumps, events)) if text is None else text)
            return bazel.results(path, code)

    def test_one_outcome_a_target(self) -> None:
        found = self.results(3, {"id": {"started": {}}}, summary("//a:a_test", "PASSED"), summary("//a:b_test", "TIMEOUT"),
                             summary("//a:c_test", "FAILED_TO_BUILD"))
        self.assertEqual(found, [Outcome("//a:a_test", PASSED, 1.5), Outcome("//a:b_test TIMEOUT", FAILED, 1.5),
                                 Outcome("//a:c_test FAILED TO BUILD", FAILED, 1.5)])

    def test_a_failure_has_the_end_of_its_log(self) -> None:
        with tempfile.NamedTemporaryFile("w", suffix=" log") as log:
            log.write("expected 42")
            log.flush()
            uri = "file://" + log.name.replace(" ", "%20")
            found = self.results(3, summary("//a:a_test", "FAILED", failed=[{"uri": uri}]))
        self.assertEqual(found[0].text, "expected 42")

    def test_a_test_that_passes_again_is_flaky_and_fails(self) -> None:
        self.assertEqual(self.results(0, summary("//a:a_test", "FLAKY"))[0].name, "//a:a_test FLAKY")

    def test_a_library_that_does_not_build_is_named(self) -> None:
        found = self.results(1, {"id": {"targetCompleted": {"label": "//a:lib"}}, "completed": {}},
                             {"id": {"targetCompleted": {"label": "//a:good"}}, "completed": {"success": True}})
        self.assertEqual([o.name for o in found], ["//a:lib FAILED TO BUILD"])

    def test_a_build_that_broke_before_any_test(self) -> None:
        for text in ("", "{", '{"id": {}}\n'):
            with self.subTest(f"after {text!r}"):
                self.assertEqual([o.name for o in self.results(1, text=text)], ["the build"])
        self.assertEqual([o.name for o in bazel.results("/nonexistent", 1)], ["the build"])
        self.assertEqual(bazel.results("/nonexistent", 0), [])
