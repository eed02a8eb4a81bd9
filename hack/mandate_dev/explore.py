"""Sends random sequences of requests to a private API server and to the double, and reports where they differ.

usage: testing/conformance/explore/run [--sequences=N] [--seed=SEED] [--trace]

2000 sequences by default; sequence i has seed SEED+i. A seed that is not given is chosen and printed, and replays. The
last line is `N passed, N failed`, in sequences.
"""
import argparse
import json
import os
import shutil
import subprocess
import urllib.request
from collections.abc import Sequence
from typing import Any

from mandate_dev import bazel, paths, processes
from mandate_dev.clusters import Cluster
from mandate_dev.paths import ROOT


def etcd(cluster: Cluster, call: str, body: Any) -> Any:
    """Sends a request to etcd's key-value service, as its owner."""
    request = urllib.request.Request(f"https://127.0.0.1:{cluster.port('etcd')}/v3/kv/{call}", json.dumps(body).encode())
    with urllib.request.urlopen(request, context=cluster.tls("etcd", "etcd-ca"), timeout=60) as answer:
        return json.load(answer)


def explore(cluster: Cluster, program: str, flags: Sequence[str]) -> int:
    cluster.up("--apiserver-flag=--watch-cache-sizes=podtemplates#0",
               "--apiserver-flag=--enable-admission-plugins=OwnerReferencesPermissionEnforcement")
    # kube-controller-manager would create its own objects in every namespace. A server that was never restarted and
    # an etcd that was never compacted have the whole history, which the double does not have.
    cluster.stop("controller-manager")
    revision = etcd(cluster, "range", {"key": "AA=="})["header"]["revision"]
    etcd(cluster, "compaction", {"revision": revision})
    cluster.restart("apiserver")
    return subprocess.run([program, "--kubeconfig", cluster.kubeconfig, "--at-once", "8", *flags], cwd=ROOT).returncode


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="testing/conformance/explore/run", add_help=False, allow_abbrev=False)
    parser.add_argument("--sequences", type=int, default=2000)
    parser.add_argument("--seed")
    parser.add_argument("--trace", action="store_true")
    parser.add_argument("-h", "--help", action="store_true")
    options = parser.parse_args(argv)
    if options.help:
        print(__doc__.strip())
        return 0
    processes.interrupt_on_sigterm()
    folder = paths.new_folder("explore")
    cluster = Cluster(os.path.join(folder, "cluster"))
    flags = ["--sequences", str(options.sequences), *([f"--seed={options.seed}"] if options.seed else []),
             *(["--trace"] if options.trace else [])]
    try:
        return explore(cluster, bazel.program("//testing/conformance/explore"), flags)
    except (OSError, subprocess.SubprocessError) as error:
        print(f"{error}\n\n0 passed, 1 failed")
        return 1
    finally:
        cluster.down()
        shutil.rmtree(folder, ignore_errors=True)
