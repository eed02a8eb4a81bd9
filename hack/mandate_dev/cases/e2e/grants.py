"""Roles, bindings and ServiceAccounts as a check gives them to the manager and takes them away."""
import time

from mandate_dev.cases.e2e.checks import TEMPLATE
from mandate_dev.world import BASE, LOADED, NAMESPACE

ROLE = f"{BASE}-{TEMPLATE}"
SUBJECT = {"kind": "ServiceAccount", "name": ROLE, "namespace": NAMESPACE}


def bare(thing):
    """An object as one would create it anew."""
    meta = {k: v for k, v in thing["metadata"].items() if k in ("name", "namespace", "labels", "annotations")}
    return {**{k: v for k, v in thing.items() if k != "status"}, "metadata": meta}


def binding(name, role, ns=None):
    kind = "RoleBinding" if ns else "ClusterRoleBinding"
    return {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind,
            "metadata": {"name": name, **({"namespace": ns} if ns else {})},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
            "subjects": [SUBJECT]}


def cluster_role(name, rules, labels=None, aggregate=None):
    role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
            "metadata": {"name": name, "labels": labels or {}}, "rules": rules}
    if aggregate:
        role["aggregationRule"] = {"clusterRoleSelectors": [{"matchLabels": aggregate}]}
    return role


def restart(env, *flags):
    env.stop_manager()
    env.start_manager(*flags)


def becomes_ready(env, within=20):
    """After how many seconds. Missing permissions are asked for every 15 s."""
    start = time.monotonic()
    env.eventually("the manager is ready", env.is_ready, patience=within + LOADED)
    return time.monotonic() - start
