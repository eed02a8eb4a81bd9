"""The reader of the audit log."""
import os
import tempfile
import unittest
from typing import Any

from mandate_dev.demo import audit_log


def event(audit_id: str, stage: str, verb: str = "watch", code: int = 200, seconds: str = "00.000000", **ref: str) -> dict[str, Any]:
    return {"auditID": audit_id, "stage": stage, "verb": verb, "user": {"username": "a"}, "requestURI": "/x",
            "objectRef": {"resource": "pods", **ref}, "responseStatus": {"code": code},
            "stageTimestamp": f"2026-01-01T00:00:{seconds}Z"}


class AuditLog(unittest.TestCase):
    def test_a_watch_is_open_from_its_start_to_its_end(self) -> None:
        started, other = event("1", "ResponseStarted"), event("2", "ResponseStarted", namespace="foo")
        self.assertEqual(audit_log.open_watches([started, other]), [started, other])
        self.assertEqual(audit_log.open_watches([started, other, event("1", "ResponseComplete")]), [other])
        self.assertEqual(audit_log.open_watches([started, event("1", "Panic")]), [])

    def test_other_requests_and_denied_watches_are_not_open(self) -> None:
        self.assertEqual(audit_log.open_watches([event("1", "ResponseStarted", verb="list")]), [])
        self.assertEqual(audit_log.open_watches([event("1", "ResponseStarted", code=403)]), [])
        self.assertEqual(audit_log.open_watches([event("1", "ResponseComplete", code=403)]), [])

    def test_scopes(self) -> None:
        watches = [event("1", "s", namespace="foo"), event("2", "s"), event("3", "s", namespace="foo", name="bar"),
                   event("4", "s", namespace="foo")]
        self.assertEqual(audit_log.scopes(watches), ["pods foo/bar", "pods in namespace foo (2 times)", "pods in the cluster"])

    def test_times(self) -> None:
        first, second = event("1", "s", seconds="01.500000"), event("2", "s", seconds="03.750000")
        self.assertEqual(audit_log.seconds_between(first, second), 2.25)
        self.assertIsNone(audit_log.seconds_between(first, None))

    def test_a_request_is_found_by_its_successful_response(self) -> None:
        good = event("1", "ResponseComplete", verb="patch", namespace="foo", subresource="status")
        self.assertTrue(audit_log.is_about(good, "patch", "pods", "foo", "status"))
        changes: list[dict[str, Any]] = [{"stage": "ResponseStarted"}, {"verb": "get"}, {"responseStatus": {"code": 403}}]
        for change in changes:
            self.assertFalse(audit_log.is_about({**good, **change}, "patch", "pods", "foo", "status"))
        for verb, resource, namespace, subresource in (("patch", "secrets", "foo", "status"), ("patch", "pods", "bar", "status"),
                                                       ("patch", "pods", "foo", "")):
            self.assertFalse(audit_log.is_about(good, verb, resource, namespace, subresource))

    def test_requests_are_counted_by_their_responses(self) -> None:
        events = [event("1", "ResponseStarted"), event("1", "ResponseComplete"), event("2", "ResponseComplete", verb="list", code=403),
                  event("3", "ResponseComplete", verb="list", code=403)]
        self.assertEqual(audit_log.requests(events), {"list pods: 403": 2, "watch pods: 200": 1})

    def test_half_a_line_is_omitted(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "audit.log")
            with open(path, "w", encoding="utf-8") as f:
                f.write('{"a": 1}\n{"b"')
            self.assertEqual(audit_log.read(path), [{"a": 1}])
