"""Calls the probes of a pod in the background, as often as the Pod says, and keeps what a kubelet would conclude."""
import threading
import time

from mandate_release.pod import Pod


class Prober:
    """`ready`: whether the Pod is. `would_restart`: a reason to restart the container, or empty. Both only grow stale
    after stop()."""

    def __init__(self, pod: Pod) -> None:
        self.ready, self.said, self.would_restart = False, "", ""
        self._pod = pod
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._run, args=(kind,), daemon=True)
                         for kind in ("livenessProbe", "readinessProbe") if kind in pod.container]
        if "startupProbe" in pod.container:
            raise NotImplementedError("a startupProbe delays the others")
        for thread in self._threads:
            thread.start()

    def _run(self, kind: str) -> None:
        probe = self._pod.container[kind]
        successes = failures = 0
        self._stop.wait(probe.get("initialDelaySeconds", 0))
        while not self._stop.is_set():
            begun = time.monotonic()
            holds, said = self._pod.probe(kind)
            if self._stop.is_set():
                return
            successes, failures = (successes + 1, 0) if holds else (0, failures + 1)
            self._conclude(kind, successes >= probe["successThreshold"], failures >= probe["failureThreshold"], said)
            self._stop.wait(max(0.0, probe["periodSeconds"] - (time.monotonic() - begun)))

    def _conclude(self, kind: str, succeeds: bool, fails: bool, said: str) -> None:
        if kind == "livenessProbe":
            self.would_restart = self.would_restart or (said if fails else "")
            return
        self.said = said
        self.ready = succeeds or (self.ready and not fails)

    def stop(self) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()
