"""Builds kube-scheduler and kwok, with which Pods of a local control plane run, or seem to.

usage: hack/controlplane/build_pods

Prints the folder that holds the two programs, in the cache folder as hack/controlplane/build does; they are built only
if they are not there. kube-scheduler has the version of the control plane. kwok is no kubelet: it sets the status of
Nodes and Pods, and no container runs.
"""
import fcntl
import hashlib
import json
import os
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Sequence

from mandate_dev import go, processes
from mandate_dev.clusters import Cluster
from mandate_dev.controlplane import build
from mandate_dev.paths import cache

KWOK = "sigs.k8s.io/kwok"
STAGES = os.path.join(build.HERE, "kwok", "stages.yaml")
NODE = "kwok"
# A Node with room for all Pods of a demo, which kwok keeps ready.
NODE_MANIFEST = {
    "apiVersion": "v1", "kind": "Node",
    "metadata": {"name": NODE, "labels": {"kubernetes.io/hostname": NODE, "kubernetes.io/os": "linux", "type": "kwok"},
                 "annotations": {"kwok.x-k8s.io/node": "fake", "node.alpha.kubernetes.io/ttl": "0"}},
    "status": {"allocatable": {"cpu": "32", "memory": "64Gi", "pods": "500"},
               "capacity": {"cpu": "32", "memory": "64Gi", "pods": "500"}},
}


def target() -> str:
    digest = hashlib.sha256()
    for folder in ("kubernetes", "kwok"):
        for name in ("go.mod", "go.sum"):
            with open(os.path.join(build.HERE, folder, name), "rb") as f:
                digest.update(hashlib.sha256(f.read()).digest())
    name = "-".join(["pods", build.pinned_version("kubernetes", build.KUBERNETES), "kwok", build.pinned_version("kwok", KWOK),
                     platform.machine(), digest.hexdigest()[:12]])
    return cache("controlplane", name)


def build_programs(folder: str) -> None:
    program, env = go.find(), {**os.environ, **build.GO_ENV}
    flags = {"kube-scheduler": build.link_flags(program, env), "kwok": "-s -w"}
    packages = {"kube-scheduler": ("kubernetes", build.KUBERNETES + "/cmd/kube-scheduler"), "kwok": ("kwok", KWOK + "/cmd/kwok")}
    scratch = tempfile.mkdtemp(prefix=".build-", dir=os.path.dirname(folder))
    try:
        build.say("building kube-scheduler and kwok; the first build takes minutes, and is kept")
        for name, (module, package) in packages.items():
            build.run([program, "build", "-mod=readonly", "-trimpath", "-buildvcs=false", "-ldflags", flags[name],
                       "-o", os.path.join(scratch, name), package],
                      os.path.join(scratch, name + ".log"), cwd=os.path.join(build.HERE, module), env=env)
        os.rename(scratch, folder)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def programs() -> str:
    """Returns the folder of the programs, which are built if they are missing. Raises build.Failure, go.Failure."""
    folder = target()
    os.makedirs(os.path.dirname(folder), exist_ok=True)
    with open(folder + ".lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.isdir(folder):
            build_programs(folder)
    return folder


class Pods:
    """A Node, and the two programs that schedule Pods and set their status; they end with this process or by stop().

    Both act as the cluster's administrator: a private control plane for one demo has no other users. Not thread-safe.
    """

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.children: dict[str, subprocess.Popen[bytes]] = {}

    def start(self) -> None:
        folder = programs()
        self.cluster.kubectl("apply", "-f", "-", stdin=json.dumps(NODE_MANIFEST))
        flags = {
            # Port 0: it serves nothing.
            "kube-scheduler": [f"--kubeconfig={self.cluster.kubeconfig}", "--leader-elect=false", "--secure-port=0"],
            # It renews the Node's Lease: without it, the Node would be unknown after 40 s, and its Pods not ready.
            "kwok": [f"--kubeconfig={self.cluster.kubeconfig}", f"--manage-single-node={NODE}", f"--config={STAGES}",
                     "--node-lease-duration-seconds=40"],
        }
        for name, own in flags.items():
            self.children[name] = processes.spawn([os.path.join(folder, name), *own], self.log_of(name), cwd=self.cluster.folder)

    def log_of(self, name: str) -> str:
        return self.cluster.path(name + ".log")

    def ended(self) -> list[str]:
        """Returns the programs that have ended by themselves."""
        return [name for name, child in self.children.items() if child.poll() is not None]

    def stop(self) -> None:
        for child in self.children.values():
            child.terminate()
        for child in self.children.values():
            try:
                child.wait(timeout=10)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
        self.children.clear()


def main(argv: Sequence[str]) -> int:
    if argv:
        print(__doc__.strip())
        return 0 if argv in (["-h"], ["--help"]) else 2
    processes.interrupt_on_sigterm()
    try:
        print(programs())
        return 0
    except (build.Failure, go.Failure, OSError) as failure:
        build.say(f"build_pods: {failure}")
        return 1
