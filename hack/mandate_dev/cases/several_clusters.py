"""Runs an operator with components in two clusters on two real control planes (docs/several-clusters.md).

usage: testing/several_clusters/cluster_test [NAME…] [-k PATTERN]… [--list] [--junit FILE]

Starts two private control planes and testing/several_clusters:mirror-operator. The last line is `N passed, N failed`.
"""
import json
import os
from collections.abc import Sequence
from typing import Any

from mandate_dev import runner
from mandate_dev.cases import WorldCase, WorldFixture
from mandate_dev.demo import audit_log
from mandate_dev.report import Report
from mandate_dev.world import NAMESPACE, World

MIRRORED = "mirrored"
BASE = "mirror"  # a name of its own: two operators in one cluster have no object in common
HUB, LEAF = f"{BASE}-mirror-hub", f"{BASE}-mirror-leaf"


def user(account: str) -> str:
    return f"system:serviceaccount:{NAMESPACE}:{account}"


class MirrorWorld(World):
    """One cluster with the identities of the operator. The manager runs with the credentials of both."""

    program = "//testing/several_clusters:mirror-operator"
    base = BASE
    sources = ("testing/several_clusters",)
    enabled = ""

    def _install(self) -> None:
        self.report.step("an administrator installs the ServiceAccounts and their generated roles")
        chart = self.chart()
        self.make_namespaces(chart)
        self.kubectl("apply", "-f", "-", stdin=chart)
        self.report.held("installed")

    def data(self, name: str) -> str:
        """Returns the value of the ConfigMap; empty if it does not exist."""
        return self.kubectl("get", "configmap", name, "-n", MIRRORED, "--ignore-not-found", "-o", "jsonpath={.data.value}")

    def put(self, name: str, value: str) -> None:
        self.kubectl("apply", "-f", "-", stdin=json.dumps(
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": MIRRORED}, "data": {"value": value}}))

    def users(self) -> set[str]:
        """Returns the accounts of the manager's namespace that have sent requests."""
        prefix = f"system:serviceaccount:{NAMESPACE}:"
        names = (event["user"].get("username", "") for event in audit_log.read(self.audit_log))
        return {name.removeprefix(prefix) for name in names if name.startswith(prefix)}


class TwoClusters(MirrorWorld):
    """The manager's own cluster, and in `leaf` the other one."""

    def __init__(self, folder: str, report: Report) -> None:
        super().__init__(folder, report)
        self.leaf = MirrorWorld(os.path.join(folder, "leaf"), report)

    def prepare(self) -> None:
        self.leaf.prepare()
        super().prepare()

    def start_manager(self, *flags: str) -> None:
        super().start_manager("-v=1", f"--cluster-kubeconfigs=leaf={self.leaf.manager_kubeconfig}", *flags)

    def stop(self, keep_logs: bool) -> None:
        self.end_manager()
        self.leaf.stop(keep_logs)
        super().stop(keep_logs)


class TwoClustersFixture(WorldFixture):
    name = "two-clusters"

    def make(self, folder: str, report: Report) -> World:
        return TwoClusters(folder, report)


class SeveralClusters(WorldCase):
    fixture = TwoClustersFixture

    def both(self) -> tuple[TwoClusters, MirrorWorld]:
        assert isinstance(self.world, TwoClusters)
        return self.world, self.world.leaf

    def copied(self, name: str, value: str) -> None:
        leaf = self.both()[1]
        self.world.eventually(f"the copy of {name} has the value {value!r}", lambda: (leaf.data(name) == value, leaf.data(name)))

    def line_of_leaf(self) -> str:
        """Returns the line of /readyz about base's credential in the other cluster."""
        return next((line for line in self.world.readyz()[1].splitlines() if "base-leaf: " in line), "")

    def test_it_copies(self) -> None:
        """A ConfigMap is created, changed and deleted in the one cluster, and changed by a stranger in the other."""
        hub, leaf = self.both()
        self.step("created, changed")
        hub.put("a", "1")
        self.copied("a", "1")
        hub.put("a", "2")
        self.copied("a", "2")
        self.step("a stranger changes the copy")
        leaf.kubectl("patch", "configmap", "a", "-n", MIRRORED, "--type=merge", "-p", '{"data":{"value":"strange"}}')
        self.copied("a", "2")
        self.step("deleted")
        hub.kubectl("delete", "configmap", "a", "-n", MIRRORED)
        self.copied("a", "")

    def test_each_audit_log_has_its_own_identities(self) -> None:
        """Neither cluster has seen the other's component."""
        hub, leaf = self.both()
        hub.put("b", "1")
        self.copied("b", "1")
        self.expect("the manager's cluster", hub.users() == {BASE, HUB}, hub.users())
        self.expect("the other one", leaf.users() == {BASE, LEAF}, leaf.users())
        leases = [e for e in audit_log.of(audit_log.read(leaf.audit_log), user(BASE)) if e.get("objectRef", {}).get("resource") == "leases"]
        self.expect("and no Lease in the other", not leases, leases[:1])
        self.step("rbacgen trace --check of each audit log")
        for world in (hub, leaf):
            hub.run([hub.rbacgen, "trace", "--check", f"--base-name={BASE}", world.audit_log], capture_output=True)
        self.held("no findings")

    def test_one_is_away(self) -> None:
        """The other cluster's API server stops and starts: the components there are not ready, and nothing else stops."""
        hub, leaf = self.both()
        leaf.cluster.stop("apiserver")

        def only_leaf_is_unready() -> tuple[bool, Any]:
            text = hub.readyz()[1]
            return "[-]mirror-leaf" in text and "[+]mirror-hub ok" in text, text
        self.world.eventually("mirror-leaf is not ready, and mirror-hub is", only_leaf_is_unready)
        hub.put("c", "1")
        self.step("the manager starts while it is away")
        hub.end_manager()
        hub.start_manager()
        self.world.eventually("mirror-leaf is not ready, and mirror-hub is", only_leaf_is_unready)
        self.world.eventually("/readyz has the reason", lambda: (self.line_of_leaf(), hub.readyz()[1]))
        leaf.cluster.restart("apiserver")
        self.copied("c", "1")
        hub.await_ready()
        self.expect("no reason is left", not self.line_of_leaf(), self.line_of_leaf())

    def test_one_component_alone_is_an_error(self) -> None:
        """mirror-hub needs mirror-leaf, which the flag disables."""
        hub = self.both()[0]
        hub.end_manager()
        hub.start_manager("--controllers=*,-mirror-leaf")
        code = hub.await_manager_end()
        self.expect("it ends before it starts anything", code == 2, code)
        with open(hub.manager_log, encoding="utf-8") as f:
            last = f.readlines()[-1]
        self.expect("the last line names both", "mirror-hub writes by mirror-leaf" in last, last)
        hub.start_manager()
        hub.await_ready()

    def test_a_grant_goes_and_returns_there(self) -> None:
        """mirror-leaf loses its right to write in the other cluster, and gets it back without a restart."""
        hub, leaf = self.both()
        kept = leaf.get("rolebinding", LEAF, "-n", MIRRORED)
        leaf.kubectl("delete", "rolebinding", LEAF, "-n", MIRRORED)
        # The denial of its write is a hint; without one, the loss is noticed within five minutes.
        hub.put("d", "1")
        self.world.eventually("mirror-leaf is not ready", lambda: ("[-]mirror-leaf" in hub.readyz()[1], hub.readyz()[1]))
        self.expect("mirror-hub is", "[+]mirror-hub ok" in hub.readyz()[1], hub.readyz()[1])
        self.expect("there is no copy", not leaf.data("d"), leaf.data("d"))
        for key in ("uid", "resourceVersion", "creationTimestamp", "managedFields"):
            kept["metadata"].pop(key, None)
        leaf.kubectl("create", "-f", "-", stdin=json.dumps(kept))
        self.copied("d", "1")
        hub.await_ready()


def main(argv: Sequence[str]) -> int:
    program = "testing/several_clusters/cluster_test"
    return runner.run(program, [SeveralClusters], runner.Parser(program, __doc__).parse_args(argv))
