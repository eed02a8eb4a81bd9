"""Records the Pods of B14: made by the ReplicaSet controller of a private control plane, and set to Running by kwok.

usage: hack/bench/pods [--pods 100000] [--again]

They are made in waves, each on a control plane of its own, so that memory is bounded and an interrupted run continues.
Prints the paths of the recordings, one for each wave, which are in the cache folder and are made only if they are not
there. A recording is a sequence of pages; each is its length in four bytes, little endian, and the API server's answer
to a LIST in protobuf.
"""
import argparse
import dataclasses
import json
import os
import struct
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator, Sequence
from typing import Any

from mandate_dev import go, processes
from mandate_dev.bench import pod_templates
from mandate_dev.clusters import Cluster
from mandate_dev.controlplane import build, pods
from mandate_dev.controlplane.supervisor import log_tail
from mandate_dev.paths import TOOLS, cache

PODS = 100_000
PODS_OF_A_SET = 100
PODS_OF_A_WAVE = 20_000
SETS_OF_A_NODE = 10
STAGES = os.path.join(TOOLS, "bench", "pod_stages.yaml")
KWOK_LOG = "kwok.log"
PAGE = 2000  # Pods
PROTOBUF = "application/vnd.kubernetes.protobuf"
METADATA = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
STALLED = 300  # seconds in which no Pod is made or set to Running
TRIES = 10  # of a request that the server does not answer
MAGIC = b"k8s\0"


class Failure(Exception):
    """The Pods did not become ready."""


@dataclasses.dataclass(frozen=True)
class Wave:
    first: int  # the number of its first Pod, a multiple of PODS_OF_A_SET
    count: int

    def path(self) -> str:
        return cache("bench", "pods", f"{self.first}-{self.count}.bin")

    def replicas(self) -> dict[int, int]:
        """{number of the workload: its Pods}"""
        return {at // PODS_OF_A_SET: min(PODS_OF_A_SET, self.first + self.count - at)
                for at in range(self.first, self.first + self.count, PODS_OF_A_SET)}


def waves(count: int) -> list[Wave]:
    return [Wave(at, min(PODS_OF_A_WAVE, count - at)) for at in range(0, count, PODS_OF_A_WAVE)]


# Protobuf: the few fields that a recording needs.

def fields(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Yields (number, value) of a message whose fields are varints and byte strings. Raises ValueError."""
    at = 0

    def varint() -> int:
        nonlocal at
        value = shift = 0
        while True:
            if at >= len(message):
                raise ValueError("a truncated protobuf message")
            byte = message[at]
            value |= (byte & 0x7F) << shift
            at, shift = at + 1, shift + 7
            if byte < 0x80:
                return value

    while at < len(message):
        tag = varint()
        value = varint()
        if tag & 7 == 0:
            yield tag >> 3, value
        elif tag & 7 == 2 and at + value <= len(message):
            yield tag >> 3, message[at:at + value]
            at += value
        else:
            raise ValueError(f"an unexpected protobuf field {tag >> 3} of wire type {tag & 7}")


def parse_page(body: bytes) -> tuple[list[bytes], str]:
    """Returns the encoded Pods of a page, and the token of the next page ("" for the last one). Raises ValueError."""
    if not body.startswith(MAGIC):
        raise ValueError("the page is not in Kubernetes' protobuf envelope")
    items: list[bytes] = []
    following = ""
    for number, raw in fields(body[len(MAGIC):]):
        if number != 2 or not isinstance(raw, bytes):
            continue
        for part, value in fields(raw):
            if part == 2 and isinstance(value, bytes):
                items.append(value)
            elif part == 1 and isinstance(value, bytes):
                following = next((v.decode() for n, v in fields(value) if n == 3 and isinstance(v, bytes)), "")
    return items, following


# The control plane.

def node_manifest(index: int) -> dict[str, Any]:
    name = f"node-{index:03}.eu-central-1.compute.internal"
    labels = {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux",
              "topology.kubernetes.io/zone": f"eu-central-1{'abc'[index % 3]}"}
    room = {"cpu": "1000", "memory": "4Ti", "pods": "10000"}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels},
            "spec": {"podCIDR": f"10.{index}.0.0/16", "podCIDRs": [f"10.{index}.0.0/16"]},
            "status": {"allocatable": room, "capacity": room,
                       "addresses": [{"type": "InternalIP", "address": f"192.168.{index // 250}.{index % 250 + 1}"}]}}


class Recorder:
    """A control plane that makes the Pods of one wave. Single-threaded."""

    def __init__(self, cluster: Cluster, wave: Wave) -> None:
        self.cluster, self.count, self.replicas = cluster, wave.count, wave.replicas()
        self.began = time.monotonic()

    def say(self, text: str) -> None:
        print(f"{time.monotonic() - self.began:6.0f}s  {text}", file=sys.stderr, flush=True)

    def get(self, path: str, accept: str) -> bytes:
        request = urllib.request.Request(self.cluster.server() + path, headers={"Accept": accept})
        for left in reversed(range(TRIES)):
            try:
                with urllib.request.urlopen(request, context=self.cluster.tls(), timeout=300) as answer:
                    body: bytes = answer.read()
                    return body
            except urllib.error.HTTPError as error:
                # On a loaded machine the server may not answer within its own time limit.
                if left == 0 or error.code not in (429, 500, 503, 504):
                    raise
                time.sleep(5)
        raise AssertionError("not reached")

    def create(self, objects: Sequence[dict[str, Any]]) -> None:
        if objects:
            self.cluster.kubectl("create", "--validate=ignore", "-f", "-",
                                 stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))

    def prepare(self) -> None:
        """Makes everything that must exist before the Pods: a Pod of a Node that does not exist is deleted."""
        self.create([node_manifest(n) for n in sorted({i // SETS_OF_A_NODE for i in self.replicas})])
        namespaces = sorted({pod_templates.namespace_of(i) for i in self.replicas})
        self.create([{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": n}} for n in namespaces])
        self.create([{"apiVersion": "v1", "kind": "ServiceAccount",
                      "metadata": {"name": pod_templates.service_account_of(i), "namespace": pod_templates.namespace_of(i)}}
                     for i in self.replicas if pod_templates.service_account_of(i) != "default"])

    def make(self) -> None:
        manifests = [pod_templates.replica_set(i, n, node_manifest(i // SETS_OF_A_NODE)["metadata"]["name"])
                     for i, n in self.replicas.items()]
        self.create(manifests)
        self.say(f"{len(manifests)} ReplicaSets made")
        known, progress = (-1, ""), time.monotonic()
        while True:
            made, pending = self.made(), self.pending()
            if made == self.count and not pending:
                return
            if (made, pending) != known:  # the first Pod that is not Running is another one
                known, progress = (made, pending), time.monotonic()
            elif time.monotonic() - progress > STALLED:
                raise Failure(f"{made} of {self.count} Pods were made, and {pending or 'none'} is not Running; the end of kwok's "
                              "log:\n" + log_tail(self.cluster.path(KWOK_LOG)))
            self.say(f"{made} of {self.count} Pods made")
            time.sleep(5)

    def listed(self, selector: str = "") -> tuple[list[str], int]:
        """Returns the name of at most one Pod that the field selector matches, and, without a selector, how many more
        there are."""
        query = {"limit": "1", **({"fieldSelector": selector} if selector else {})}
        answer = json.loads(self.get("/api/v1/pods?" + urllib.parse.urlencode(query), METADATA))
        # An empty list is null.
        return [item["metadata"]["name"] for item in answer["items"] or ()], int(answer["metadata"].get("remainingItemCount", 0))

    def made(self) -> int:
        first, more = self.listed()
        return len(first) + more

    def pending(self) -> str:
        """Returns the name of a Pod that is not Running, or ""."""
        return "".join(self.listed("status.phase!=Running")[0])

    def record(self, path: str) -> None:
        total = items = 0
        following = ""
        with open(path, "wb") as out:
            while True:
                query = {"limit": str(PAGE), **({"continue": following} if following else {})}
                body = self.get("/api/v1/pods?" + urllib.parse.urlencode(query), PROTOBUF)
                found, following = parse_page(body)
                out.write(struct.pack("<I", len(body)) + body)
                total, items = total + sum(map(len, found)), items + len(found)
                if not following:
                    break
        if items != self.count:
            raise Failure(f"the API server listed {items} Pods, not {self.count}")
        self.say(f"{items} Pods recorded, with {total / items:.0f} bytes each")


def make(wave: Wave) -> None:
    """Writes a wave's recording. Raises Failure, build.Failure, go.Failure, RuntimeError, OSError, CalledProcessError."""
    kwok = os.path.join(pods.programs(), "kwok")
    os.makedirs(os.path.dirname(wave.path()), exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="mandate-pods-") as scratch:
        cluster = Cluster(os.path.join(scratch, "cluster"))
        recorder = Recorder(cluster, wave)
        cluster.up(quiet=True)
        child = None
        try:
            recorder.prepare()
            recorder.say("the control plane is up")
            child = processes.spawn([kwok, f"--kubeconfig={cluster.kubeconfig}", "--manage-all-nodes", f"--config={STAGES}",
                                     "--node-lease-duration-seconds=40", "--v=WARN"], cluster.path(KWOK_LOG), cwd=cluster.folder)
            recorder.make()
            recorder.record(wave.path() + ".new")
            os.replace(wave.path() + ".new", wave.path())
        finally:
            if child:
                child.kill()
                child.wait()
            cluster.down()


def recorded(count: int = PODS, again: bool = False) -> list[str]:
    """Returns the paths of the recordings, which are made if they are missing. Raises as make()."""
    for wave in waves(count):
        if again or not os.path.exists(wave.path()):
            print(f"==> recording the Pods {wave.first + 1} to {wave.first + wave.count} of {count}; this takes minutes, and is "
                  "kept", file=sys.stderr, flush=True)
            make(wave)
    return [wave.path() for wave in waves(count)]


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="hack/bench/pods", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pods", type=int, default=PODS, metavar="N", help="default: %(default)s")
    parser.add_argument("--again", action="store_true", help="make the recordings again")
    args = parser.parse_args(argv)
    if args.pods < 1:
        parser.error("--pods must be at least 1")
    processes.interrupt_on_sigterm()
    try:
        print("\n".join(recorded(args.pods, args.again)))
        return 0
    except (Failure, build.Failure, go.Failure, RuntimeError, OSError, ValueError,
            subprocess.CalledProcessError) as failure:
        print(f"hack/bench/pods: {failure}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
