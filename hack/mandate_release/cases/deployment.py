"""The image, run as the chart's Deployment says, against a real control plane."""
import re
import unittest
from typing import Any

from mandate_release import cases
from mandate_release.deployment import NAME, NAMESPACE, Deployment, eventually
from mandate_release.pod import Pod

MONITOR: list[dict[str, Any]] = [
    {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "monitor", "namespace": "default"}},
    {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "monitor"},
     "rules": [{"nonResourceURLs": ["/metrics"], "verbs": ["get"]}]},
    {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": "monitor"},
     "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "monitor"},
     "subjects": [{"kind": "ServiceAccount", "name": "monitor", "namespace": "default"}]}]


def scope(name: str) -> list[dict[str, Any]]:
    """A ScopeTemplate and a ScopeInstance that binds its role in the namespace default."""
    head = {"apiVersion": "operators.coreos.com/v1alpha1", "metadata": {"name": name}}
    return [{**head, "kind": "ScopeTemplate", "spec": {"clusterRoles": [{
                "generateName": f"{name}-", "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}],
                "subjects": [{"kind": "User", "name": "ann"}]}]}},
            {**head, "kind": "ScopeInstance", "spec": {"scopeTemplateName": name, "namespaces": ["default"]}}]


class DeploymentTest(unittest.TestCase):
    """Each case leaves two replicas that are ready."""

    one: Deployment

    @classmethod
    def setUpClass(cls) -> None:
        cls.one = cases.shared_deployment()

    def setUp(self) -> None:
        self.one.await_ready()

    @property
    def pods(self) -> list[Pod]:
        return [pod for pod, _ in self.one.replicas]

    def reconciles(self, name: str) -> None:
        """A new ScopeInstance becomes Scoped, and its RoleBinding is there."""
        cluster = self.one.cluster
        assert cluster is not None
        cluster.apply(*scope(name))

        def look() -> tuple[bool, Any]:
            assert cluster is not None
            status = cluster.get("scopeinstance", name).get("status", {})
            bound = [b["metadata"]["name"] for b in cluster.get("rolebindings", "-n", "default")["items"]]
            scoped = any(c["type"] == "Scoped" and c["status"] == "True" for c in status.get("conditions", []))
            return scoped and any(b.startswith(f"{name}-") for b in bound), (status, bound)
        eventually(f"ScopeInstance {name} is Scoped", look)
        cluster.kubectl("delete", f"scopeinstance/{name}", f"scopetemplate/{name}")

    def test_two_replicas_are_ready_and_one_leads(self) -> None:
        self.assertEqual(len(self.pods), 2)
        for pod in self.pods:
            for kind in ("livenessProbe", "readinessProbe"):
                holds, said = pod.probe(kind)
                self.assertTrue(holds, f"{kind}: {said}")
        self.one.await_leader(self.pods)
        self.reconciles("first")

    def test_the_processes_are_confined(self) -> None:
        for pod in self.pods:
            status, mounts = pod.status(), pod.mounts()
            self.assertEqual({status[f"Cap{kind}"] for kind in ("Inh", "Prm", "Eff", "Bnd", "Amb")}, {"0" * 16})
            self.assertEqual((status["NoNewPrivs"], status["NSpid"].split()[-1]), ("1", "1"))
            self.assertEqual(pod.identity(), (65532, 65532))
            self.assertIn("ro", mounts["/"])
            writable = {path for path, options in mounts.items() if "rw" in options and not re.match("/(proc|dev)(/|$)", path)}
            self.assertEqual(writable, set())

    def test_memory_is_far_below_the_limit(self) -> None:
        for pod in self.pods:
            peak = int(pod.status()["VmHWM"].split()[0]) << 10
            print(f"  {pod.name}: {peak / 2**20:.1f} MiB of {pod.memory_limit / 2**20:.0f}")
            self.assertLess(peak, pod.memory_limit / 2)

    def test_metrics_are_served_with_a_token_that_may_read_them(self) -> None:
        cluster, pod = self.one.cluster, self.pods[0]
        assert cluster is not None
        cluster.apply(*MONITOR)
        token = cluster.kubectl("create", "token", "monitor", "-n", "default")
        self.assertEqual(pod.get(pod.port("metrics"), "/metrics", "HTTPS")[0], 401)
        code, text = eventually("the metrics are served", lambda: (
            (seen := pod.get(pod.port("metrics"), "/metrics", "HTTPS", token=token))[0] == 200, seen))
        self.assertIn("leader_election_master_status", text, code)

    def test_the_other_replica_leads_after_the_leader_is_killed(self) -> None:
        leader = self.one.await_leader(self.pods)
        other = self.one.end(leader)
        leader.kill()
        self.addCleanup(self.one.restart, leader)
        self.assertIs(self.one.await_leader([other]), other)
        self.reconciles("second")

    def test_sigterm_releases_the_lease_within_the_grace_period(self) -> None:
        leader = self.one.await_leader(self.pods)
        other = self.one.end(leader)
        code, seconds = leader.terminate()
        self.addCleanup(self.one.restart, leader)
        print(f"  stopped in {seconds:.1f} s of {leader.grace_period}")
        self.assertEqual(code, 0, leader.tail())
        holder = self.one.lease_holder()
        self.assertFalse(holder.startswith(leader.name + "_"), holder)
        self.assertIs(self.one.await_leader([other]), other)
        self.reconciles("third")

    def test_the_deployment_has_no_warning(self) -> None:
        cluster = self.one.cluster
        assert cluster is not None
        events = cluster.get("events", "-n", NAMESPACE)["items"]
        self.assertEqual([event["message"] for event in events if event["type"] == "Warning"
                          and event["involvedObject"]["name"].startswith(NAME)], [])
