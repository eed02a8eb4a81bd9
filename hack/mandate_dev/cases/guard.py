"""The guard's answers to requests, and a real API server's (manager/client/guard_rows.h).

usage: manager/client/guard_cluster_test [--dir DIR]

Starts a control plane of its own in DIR (default: a new temporary folder) and stops it. A request that the guard
refuses must be 403 there, and one that it allows must not be. The last line is `N passed, N failed`; the exit code is
0 only when nothing failed.
"""
import argparse
import base64
import json
import os
import shutil
import ssl
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

from mandate_dev.paths import ROOT

CLUSTER = os.path.join(ROOT, "hack", "cluster")
BAZEL = os.path.join(ROOT, "hack", "bazel")
USER = "guarded"


def rows():
    """guard_rows.h: the rules, and the requests with both answers."""
    target = "//manager/client:guard_rows"
    subprocess.run([BAZEL, "build", target], check=True, cwd=ROOT)
    folder = subprocess.run([BAZEL, "info", "bazel-bin"], check=True, cwd=ROOT, capture_output=True, text=True).stdout
    tool = os.path.join(folder.strip(), "manager", "client", "guard_rows")
    return json.loads(subprocess.run([tool], check=True, capture_output=True, text=True).stdout)


def grants(rules):
    """The objects that grant exactly `rules` to USER."""
    subject = {"kind": "User", "name": USER, "apiGroup": "rbac.authorization.k8s.io"}
    for i, (ns, rule) in enumerate((r["namespace"], r["rule"]) for r in rules):
        kind, metadata = ("Role", {"name": f"g{i}", "namespace": ns}) if ns else ("ClusterRole", {"name": f"g{i}"})
        common = {"apiVersion": "rbac.authorization.k8s.io/v1", "metadata": metadata}
        yield {**common, "kind": kind, "rules": [rule]}
        yield {**common, "kind": f"{kind}Binding", "subjects": [subject],
               "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": f"g{i}"}}


def world(rules):
    yield {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "guarded"}}
    there = {"name": "there", "namespace": "guarded"}
    yield {"apiVersion": "v1", "kind": "ConfigMap", "metadata": there}
    yield {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": there}
    yield from grants(rules)


class Server:
    """Requests as USER, by the administrator's right to impersonate."""

    def __init__(self, kubectl, folder):
        config = json.loads(subprocess.run([kubectl, "config", "view", "--raw", "--flatten", "-o", "json"], check=True,
                                           capture_output=True, text=True).stdout)
        cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
        self.url = cluster["server"]
        context = ssl.create_default_context(cadata=base64.b64decode(cluster["certificate-authority-data"]).decode())
        pair = []
        for part in ("client-certificate-data", "client-key-data"):
            pair.append(os.path.join(folder, part))
            with open(pair[-1], "wb") as file:
                file.write(base64.b64decode(user[part]))
        context.load_cert_chain(*pair)
        self.opener = urllib.request.build_opener(urllib.request.ProxyHandler({}),
                                                  urllib.request.HTTPSHandler(context=context))

    def answer(self, row):
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


def main(argv):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dir")
    flags = parser.parse_args(argv)
    table = rows()
    folder = tempfile.mkdtemp(prefix="guard-cluster-test.")
    cluster = ["--dir", flags.dir or os.path.join(folder, "cluster")]
    passed = failed = 0
    try:
        subprocess.run([CLUSTER, "up", *cluster, "--watch-pid", str(os.getpid())], check=True, timeout=7200)
        kubectl = subprocess.run([CLUSTER, "kubectl-path", *cluster], check=True, capture_output=True,
                                 text=True).stdout.strip()
        objects = {"apiVersion": "v1", "kind": "List", "items": list(world(table["rules"]))}
        env = {k: v for k, v in os.environ.items() if k != "KUBECONFIG"}
        subprocess.run([kubectl, "create", "-f", "-"], input=json.dumps(objects), check=True, text=True, timeout=600,
                       env=env, stdout=subprocess.DEVNULL)
        # Roles reach the authorizer by a watch; this is the last one's.
        deadline = time.monotonic() + 300
        while subprocess.run([kubectl, "auth", "can-i", "get", "/metrics", "--as", USER, "-q"], timeout=600,
                             env=env).returncode != 0 and time.monotonic() < deadline:
            time.sleep(0.1)
        server = Server(kubectl, folder)
        for row in table["rows"]:
            code, text = server.answer(row)
            holds = (code != 403) == row["server"] and code not in (400, 401, 415, 501)
            passed, failed = passed + holds, failed + (not holds)
            words = {True: "allows", False: "refuses"}
            print(f"{'ok  ' if holds else 'FAIL'} {row['method']} {row['target']}: the guard {words[row['guard']]}, "
                  f"the server says {code}" + ("" if holds else f": {text[:300]}"), flush=True)
    finally:
        subprocess.run([CLUSTER, "down", *cluster], timeout=600, stdout=subprocess.DEVNULL)
        shutil.rmtree(folder, ignore_errors=True)
    print(f"\n{passed} passed, {failed} failed")
    return 0 if failed == 0 and passed == len(table["rows"]) else 1
