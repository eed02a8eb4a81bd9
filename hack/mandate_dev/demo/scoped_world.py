"""The world of hack/demo/scoped: the operator of "Informers Based on RBAC", and Pods that seem to run."""
import os
import subprocess
from typing import Any

from mandate_dev import go, processes
from mandate_dev.controlplane import build
from mandate_dev.controlplane.pods import Pods
from mandate_dev.demo import audit_log
from mandate_dev.paths import TOOLS
from mandate_dev.report import Report, StepFailed
from mandate_dev.world import BASE, World

NAMESPACE = "scoped-memcached-operator-system"
ACCOUNT = f"{BASE}-memcached"
USER = f"system:serviceaccount:{NAMESPACE}:{ACCOUNT}"
BAR_ACCOUNT = f"{BASE}-bar"
BAR_USER = f"system:serviceaccount:{NAMESPACE}:{BAR_ACCOUNT}"
OBSERVER_USER = f"system:serviceaccount:{NAMESPACE}:{BASE}-access-observer"
SETUP = os.path.join(TOOLS, "demo", "scoped_setup.yaml")
OBSERVER = os.path.join(TOOLS, "demo", "scoped_observer.yaml")


def binding(namespace: str) -> dict[str, Any]:
    """Returns the RoleBinding that lets the operator have Deployments and Pods in a namespace."""
    return {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding",
            "metadata": {"name": "op-rolebinding-default", "namespace": namespace},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "scoped-operator-needs"},
            "subjects": [{"kind": "ServiceAccount", "name": ACCOUNT, "namespace": NAMESPACE}]}


def name_in(namespace: str) -> str:
    return f"memcached-sample-{namespace}"


def memcached(namespace: str, size: int) -> dict[str, Any]:
    return {"apiVersion": "cache.example.com/v1alpha1", "kind": "Memcached",
            "metadata": {"name": name_in(namespace), "namespace": namespace}, "spec": {"size": size}}


class ScopedWorld(World):
    """A control plane with kube-scheduler and kwok, and the operator in place of the manager."""

    namespace = NAMESPACE
    program = "//controllers/memcached:memcached-operator"
    sources = ("controllers/access_observer", "controllers/memcached")
    protos = "controllers/memcached/*.proto"
    enabled = ""

    def __init__(self, folder: str, report: Report) -> None:
        super().__init__(folder, report)
        self.pods = Pods(self.cluster)

    def start_pods(self) -> None:
        self.report.step("kube-scheduler and kwok, so that Pods seem to run")
        try:
            self.pods.start()
        except (build.Failure, go.Failure, OSError, RuntimeError) as error:
            raise StepFailed(self.report.current, "both to start", error) from None
        self.eventually("the Node is ready", self._node_is_ready)

    def _node_is_ready(self) -> tuple[bool, Any]:
        if ended := self.pods.ended():
            raise StepFailed(self.report.current, f"{', '.join(ended)} to run", f"it ended; see {self.pods.log_of(ended[0])}")
        conditions = [c for node in self.get("nodes")["items"] for c in node["status"].get("conditions", [])]
        return any(c["type"] == "Ready" and c["status"] == "True" for c in conditions), conditions

    def spawn_manager(self, health_port: int, metrics_port: int, *flags: str) -> subprocess.Popen[bytes]:
        with open(self.manager_log, "ab") as log:
            return subprocess.Popen(
                [self.manager_program, f"--kubeconfig={self.manager_kubeconfig}", f"--namespace={NAMESPACE}",
                 f"--health-probe-bind-address=127.0.0.1:{health_port}", f"--metrics-bind-address=127.0.0.1:{metrics_port}",
                 "--v=1"], stdout=log, stderr=log, stdin=subprocess.DEVNULL, preexec_fn=processes.die_with_parent())

    def events(self) -> list[audit_log.Event]:
        """Returns the audit events, of all users."""
        return audit_log.read(self.audit_log)

    def streams(self, user: str = USER) -> list[audit_log.Event]:
        """Returns the open watches of the operator, or of another user."""
        return audit_log.open_watches(audit_log.of(self.events(), user))

    def stop(self, keep_logs: bool) -> None:
        self.end_manager()
        self.pods.stop()
        super().stop(keep_logs)
