"""Objects that the tests of the fences write, and their names."""
import json
from typing import Any

from mandate_dev.world import BASE, NAMESPACE

TEMPLATE, INSTANCE = f"{BASE}-scope-template", f"{BASE}-scope-instance"


def owned_by(kind: str, name: str = "x", uid: str = "00000000-0000-0000-0000-000000000001") -> list[Any]:
    return [{"apiVersion": "operators.coreos.com/v1alpha1", "kind": kind, "name": name, "controller": True, "uid": uid}]


def binding(role: str = "scope-template:some-role", subject: Any = None, **metadata: Any) -> dict[str, Any]:
    meta = {"name": "fence-test", "labels": {"operators.coreos.io/scopeInstanceUID": "x"}, **metadata}
    return {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": meta,
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
            "subjects": [subject or {"kind": "User", "name": "ann", "apiGroup": "rbac.authorization.k8s.io"}]}


def role(name: str = "scope-template:fence-test", labels: Any = None, **metadata: Any) -> dict[str, Any]:
    return {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
            "metadata": {"name": name, "labels": labels or {"operators.coreos.io/scopeTemplateUID": "x"}, **metadata},
            "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]}


def user(name: str, kind: str = "User") -> dict[str, Any]:
    return {"kind": kind, "name": name, "apiGroup": "rbac.authorization.k8s.io"}


def account(name: str, namespace: str = NAMESPACE) -> dict[str, Any]:
    return {"kind": "ServiceAccount", "name": name, "namespace": namespace}


OWNER = {"apiVersion": "operators.coreos.com/v1alpha1", "kind": "ScopeTemplate", "metadata": {"name": "fence-owner"},
         "spec": {"clusterRoles": []}}


def standing_role(owner: Any) -> Any:
    """Returns a role that this ScopeTemplate controls, with additions of another user."""
    return dict(role("scope-template:fence-standing", labels={"rbac.authorization.k8s.io/aggregate-to-view": "true"},
                     finalizers=["a.io/stays"], ownerReferences=owned_by("ScopeTemplate", "fence-owner", owner)),
                aggregationRule={"clusterRoleSelectors": [{"matchLabels": {"a": "b"}}]})


def event(controller: str, name: str = "fence-test") -> dict[str, Any]:
    return {"apiVersion": "events.k8s.io/v1", "kind": "Event", "metadata": {"name": name, "namespace": "default"},
            "eventTime": "2026-11-23T00:00:00.000000Z", "reportingController": controller, "reportingInstance": "x",
            "action": "Bind", "reason": "Bound", "type": "Normal", "note": "x",
            "regarding": {"kind": "Namespace", "name": "default", "namespace": "default"}}


ACCOUNT = f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts/{INSTANCE}/token"
OURS = {"apiVersion": "v1", "kind": "Secret", "name": INSTANCE}


def token_request(**spec: Any) -> str:
    return json.dumps({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec})
