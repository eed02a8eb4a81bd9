"""The chart's Deployment on a local control plane, with its pods run from the image."""
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from typing import Any

from mandate_release import oci
from mandate_release.image import Image
from mandate_release.cluster import Cluster
from mandate_release.pod import Pod
from mandate_release.prober import Prober

NAMESPACE = "mandate-system"
NAME = "mandate-manager"
# Every wait ends as soon as its condition holds; machines with two cores and ten times the work are patient.
PATIENCE = 300


def eventually(what: str, condition: Callable[[], tuple[bool, Any]], patience: float = PATIENCE) -> Any:
    """Asks for (holds, seen) until it holds, and returns what was seen then."""
    deadline = time.monotonic() + patience
    while True:
        holds, seen = condition()
        if holds:
            return seen
        if time.monotonic() > deadline:
            raise AssertionError(f"{what}: not within {patience:.0f} s; last seen: {seen}")
        time.sleep(0.2)


class Deployment:
    """Replicas, each a Pod that the Deployment controller made. It ends with stop()."""

    def __init__(self) -> None:
        self.replicas: list[tuple[Pod, Prober]] = []
        self.cluster: Cluster | None = None
        self.folder = tempfile.mkdtemp(prefix="mandate-image-")
        os.chmod(self.folder, 0o755)  # also the user of the container enters it
        self._number = 0

    def start(self, image: Image, chart: str) -> None:
        """Installs the chart with helm, in a namespace that enforces the restricted Pod Security Standard."""
        self.cluster = Cluster(self.folder)
        self._image = os.path.join(self.folder, "image")
        self._configuration = oci.unpack(image.archive, self._image)
        self.cluster.kubectl("create", "namespace", NAMESPACE)
        self.cluster.kubectl("label", "namespace", NAMESPACE, "pod-security.kubernetes.io/enforce=restricted")
        self.cluster.helm("install", "mandate", chart, "--namespace", NAMESPACE, "--set", "metrics.enabled=true",
                          "--set", f"image=registry.example.com/{NAME}:{image.version}")
        for pod in self._pods():
            self._run(pod)

    def _pods(self) -> list[dict[str, Any]]:
        assert self.cluster is not None
        wanted = self.cluster.get("deployment", NAME, "-n", NAMESPACE)["spec"]["replicas"]

        def look() -> tuple[bool, Any]:
            assert self.cluster is not None
            pods = self.cluster.get("pods", "-n", NAMESPACE)["items"]
            return len(pods) == wanted, pods if len(pods) == wanted else self.cluster.kubectl("get", "events", "-n", NAMESPACE)
        pods: list[dict[str, Any]] = eventually(f"{wanted} pods", look)
        return pods

    def start_pod(self, pod: dict[str, Any]) -> Pod:
        """Starts a Pod that is not one of the replicas. The caller ends it."""
        assert self.cluster is not None
        self._number += 1
        run = Pod(self.cluster, pod, self._image, self._configuration, os.path.join(self.folder, f"pod-{self._number}"),
                  self._number)
        run.start()
        return run

    def _run(self, pod: dict[str, Any]) -> None:
        run = self.start_pod(pod)
        self.replicas.append((run, Prober(run)))

    def restart(self, pod: Pod) -> None:
        """Starts the container of an ended replica again, as a kubelet does."""
        self.replicas = [replica for replica in self.replicas if replica[0] is not pod]
        self._run(pod.object)

    def end(self, pod: Pod) -> Pod:
        """Stops the probes of a replica that is about to end. The other replica."""
        for run, prober in self.replicas:
            if run is pod:
                prober.stop()
        return next(run for run, _ in self.replicas if run is not pod)

    def await_ready(self) -> None:
        def look() -> tuple[bool, Any]:
            for pod, prober in self.replicas:
                if not pod.runs() or prober.would_restart:
                    raise AssertionError(f"{pod.name} has ended or is not alive: {prober.would_restart}\n{pod.tail()}")
            return all(prober.ready for _, prober in self.replicas), [prober.said for _, prober in self.replicas]
        eventually("every replica is ready", look)

    def lease_holder(self) -> str:
        assert self.cluster is not None
        return self.cluster.kubectl("get", "lease", NAME, "-n", NAMESPACE, "--ignore-not-found", "-o",
                                    "jsonpath={.spec.holderIdentity}")

    def await_leader(self, pods: list[Pod]) -> Pod:
        """The one of the pods that has the Lease. The holder's name begins with its host name."""
        def look() -> tuple[bool, Any]:
            holder = self.lease_holder()
            leaders = [pod for pod in pods if holder.startswith(pod.name + "_")]
            return bool(leaders), leaders or holder
        leaders: list[Pod] = eventually("one of the replicas has the Lease", look)
        return leaders[0]

    def logs(self) -> str:
        return "\n".join(f"{pod.name}:\n{pod.tail()}" for pod, _ in self.replicas)

    def stop(self) -> None:
        for pod, prober in self.replicas:
            prober.stop()
            pod.kill()
        if self.cluster is not None:
            self.cluster.down()
        shutil.rmtree(self.folder, ignore_errors=True)
