"""Compares the guard's answers to requests with a real API server's (manager/client/testing/guard_rows.h).

usage: manager/client/guard_cluster_test [--dir DIR] [--port N] [-k PATTERN]… [--list] [--junit FILE]

Starts a control plane of its own in DIR (default: a new temporary folder) and stops it. A request that the guard
rejects must be 403 there, and one that it allows must not be. Each row counts. The last line is `N passed, N failed`;
the exit code is 0 only when nothing failed.
"""
import json
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from typing import Any

from mandate_dev import bazel
from mandate_dev.cases import ClusterCase, cluster_main
from mandate_dev.clusters import Cluster

USER = "guarded"


def grants(rules: Any) -> Iterator[dict[str, Any]]:
    """Yields the objects that grant exactly `rules` to USER."""
    subject = {"kind": "User", "name": USER, "apiGroup": "rbac.authorization.k8s.io"}
    for i, (ns, rule) in enumerate((r["namespace"], r["rule"]) for r in rules):
        kind, metadata = ("Role", {"name": f"g{i}", "namespace": ns}) if ns else ("ClusterRole", {"name": f"g{i}"})
        common = {"apiVersion": "rbac.authorization.k8s.io/v1", "metadata": metadata}
        yield {**common, "kind": kind, "rules": [rule]}
        yield {**common, "kind": f"{kind}Binding", "subjects": [subject],
               "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": f"g{i}"}}


def world(rules: Any) -> Iterator[dict[str, Any]]:
    yield {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "guarded"}}
    there = {"name": "there", "namespace": "guarded"}
    yield {"apiVersion": "v1", "kind": "ConfigMap", "metadata": there}
    yield {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": there}
    yield from grants(rules)


class Server:
    """Sends requests as USER: the administrator impersonates this user."""

    def __init__(self, cluster: Cluster) -> None:
        self.url = cluster.server()
        self.opener = urllib.request.build_opener(urllib.request.ProxyHandler({}),
                                                  urllib.request.HTTPSHandler(context=cluster.tls()))

    def answer(self, row: Any) -> tuple[Any, Any]:
        """(status code, text)."""
        headers = {"Impersonate-User": USER, "Impersonate-Group": "system:authenticated"}
        if row["contentType"]:
            headers["Content-Type"] = row["contentType"]
        request = urllib.request.Request(self.url + row["target"], method=row["method"], headers=headers,
                                         data=row["body"].encode() if row["contentType"] else None)
        try:
            with self.opener.open(request, timeout=300) as response:
                return response.status, response.read().decode(errors="replace")
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode(errors="replace")


class Guard(ClusterCase):
    def test_rows(self) -> None:
        # The rules, and the requests with both answers.
        program = bazel.program("//manager/client/testing:guard_rows")
        table = json.loads(subprocess.run([program], check=True, capture_output=True, text=True).stdout)
        objects = {"apiVersion": "v1", "kind": "List", "items": list(world(table["rules"]))}
        self.cluster.kubectl("create", "-f", "-", stdin=json.dumps(objects))
        # Roles reach the authorizer by a watch; this permission is in the last role.
        deadline = time.monotonic() + 300
        while self.cluster.try_kubectl("auth", "can-i", "get", "/metrics", "--as", USER, "-q").returncode != 0 \
                and time.monotonic() < deadline:
            time.sleep(0.1)
        server = Server(self.cluster)
        words = {True: "allows", False: "rejects"}
        for row in table["rows"]:
            code, text = server.answer(row)
            with self.subTest(f"{row['method']} {row['target']}: the guard {words[row['guard']]}, the server answers {code}"):
                self.assertTrue((code != 403) == row["server"] and code not in (400, 401, 415, 501), text[:300])


def main(argv: Sequence[str]) -> int:
    return cluster_main("manager/client/guard_cluster_test", __doc__, [Guard], argv)
