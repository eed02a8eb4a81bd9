"""Grants and revokes the manager's permissions: roles, bindings and ServiceAccounts."""
import time
from typing import Any

from mandate_dev.cases.e2e.checks import TEMPLATE
from mandate_dev.world import BASE, LOADED, NAMESPACE, World

ROLE = f"{BASE}-{TEMPLATE}"
SUBJECT = {"kind": "ServiceAccount", "name": ROLE, "namespace": NAMESPACE}


def bare(thing: Any) -> dict[str, Any]:
    """Returns the object without the fields that the server sets."""
    meta = {k: v for k, v in thing["metadata"].items() if k in ("name", "namespace", "labels", "annotations")}
    return {**{k: v for k, v in thing.items() if k != "status"}, "metadata": meta}


def binding(name: str, role: str, ns: Any = None) -> dict[str, Any]:
    kind = "RoleBinding" if ns else "ClusterRoleBinding"
    return {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind,
            "metadata": {"name": name, **({"namespace": ns} if ns else {})},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
            "subjects": [SUBJECT]}


def cluster_role(name: str, rules: Any, labels: Any = None, aggregate: Any = None) -> Any:
    role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
            "metadata": {"name": name, "labels": labels or {}}, "rules": rules}
    if aggregate:
        role["aggregationRule"] = {"clusterRoleSelectors": [{"matchLabels": aggregate}]}
    return role


def restart(world: World, *flags: str) -> None:
    world.stop_manager()
    world.start_manager(*flags)


def becomes_ready(world: World, within: float = 20) -> Any:
    """Waits until the manager is ready; returns the seconds. The manager checks missing permissions every 15 s."""
    start = time.monotonic()
    world.eventually("the manager is ready", world.is_ready, patience=within + LOADED)
    return time.monotonic() - start
