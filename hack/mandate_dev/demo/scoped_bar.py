"""The Bar examples of "Informers Based on RBAC": Secrets of a namespace, one Secret, and those of the cluster, at once."""
import json
from typing import TYPE_CHECKING, Any

from mandate_dev import process_memory
from mandate_dev.demo.scoped_world import BAR_ACCOUNT, BAR_USER, NAMESPACE

if TYPE_CHECKING:
    from mandate_dev.demo.scoped_story import Story

OWN = "bars in the cluster"
RBAC = "rbac.authorization.k8s.io"
GROUP = "operators.io.operator-framework"


def role(name: str, rule: dict[str, list[str]]) -> dict[str, Any]:
    return {"apiVersion": f"{RBAC}/v1", "kind": "ClusterRole", "metadata": {"name": name}, "rules": [rule]}


def bound(name: str, namespace: str = "") -> dict[str, Any]:
    """Returns a binding of the ClusterRole of this name to the component bar; without a namespace, in the cluster."""
    where = {"namespace": namespace} if namespace else {}
    return {"apiVersion": f"{RBAC}/v1", "kind": "RoleBinding" if namespace else "ClusterRoleBinding",
            "metadata": {"name": name, **where}, "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": name},
            "subjects": [{"kind": "ServiceAccount", "name": BAR_ACCOUNT, "namespace": NAMESPACE}]}


def bar(name: str, spec: dict[str, Any], filler: int = 0) -> dict[str, Any]:
    """Returns a Bar, which has so many bytes more."""
    metadata = {"name": name, "namespace": "default", "annotations": {"filler": "." * filler}}
    return {"apiVersion": f"{GROUP}/v1", "kind": "Bar", "metadata": metadata, "spec": spec}


def some(namespace: str, *secrets: str) -> list[dict[str, Any]]:
    """Returns a namespace and Secrets in it."""
    return [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}},
            *({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name, "namespace": namespace},
               "stringData": {"password": plaintext(namespace, name)}} for name in secrets)]


def plaintext(namespace: str, name: str) -> str:
    return f"the-password-of-{namespace}-{name}"


def holds_only(story: "Story", held: list[tuple[str, str]], *absent: tuple[str, str]) -> None:
    """The memory of the operator's process has the content of these Secrets, and that of no other."""
    names = {plaintext(*secret).encode(): secret for secret in [*held, *absent]}
    seen = sorted(names[text] for text in process_memory.found(story.world.manager_pid(), set(names)))
    story.report.expect(f"in the memory of the process: the content of {', '.join('/'.join(s) for s in held)}, and not of "
                        f"{', '.join('/'.join(s) for s in absent)}", seen == sorted(held), seen)


def forgets(story: "Story", what: str, *released: tuple[str, str]) -> None:
    """The memory of the operator's process soon has the content of none of these Secrets."""
    texts = {plaintext(*secret).encode() for secret in released}

    def look() -> tuple[Any, Any]:
        seen = sorted(text.decode() for text in process_memory.found(story.world.manager_pid(), texts))
        return not seen, seen
    story.world.eventually(f"the content of {what} is left in the memory of the process", look)


SECRETS = [("namespace-bar", "secret-bar"), ("namespace-bar", "more"), ("other-bar", "secret-bar"), ("other-bar", "hidden")]
READ = {"apiGroups": [""], "resources": ["secrets"], "verbs": ["get", "list", "watch"]}


def apply(story: "Story", *things: dict[str, Any]) -> None:
    story.world.kubectl("apply", "-f", "-", stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": list(things)}))


def reads_are(story: "Story", name: str, *wanted: tuple[str, int | None]) -> None:
    """The status of the Bar has these states and numbers of Secrets."""
    def look() -> tuple[Any, Any]:
        found = story.world.get("bar", name, "-n", "default").get("status", {}).get("reads", [])
        return [(read["state"], read.get("secrets")) for read in found] == list(wanted), found
    text = ", ".join(state if count is None else f"{state} with {count} Secrets" for state, count in wanted)
    story.world.eventually(f"Bar {name} has read: {text}", look)


def play(story: "Story") -> None:
    story.report.section("The Bar examples: one kind at three scopes")
    story.act("permissions: all Secrets of namespace-bar; in other-bar, one Secret by its name", lambda: apply(
        story, *some("namespace-bar", "secret-bar", "more"), *some("other-bar", "secret-bar", "hidden"),
        role("all-secrets", READ), role("one-secret", {**READ, "resourceNames": ["secret-bar"]}),
        bound("all-secrets", "namespace-bar"), bound("one-secret", "other-bar")))
    story.watches(BAR_USER, [OWN])

    story.act("a Bar for the Secrets of namespace-bar", lambda: apply(
        story, bar("sample", {"secretsInNamespace": {"namespace": "namespace-bar"}})))
    reads_are(story, "sample", ("Synced", 2))
    story.watches(BAR_USER, [OWN, "secrets in namespace namespace-bar"])

    story.act("a Bar for one Secret of another namespace than its own", lambda: apply(
        story, bar("one", {"secret": {"namespace": "other-bar", "name": "secret-bar"}})))
    reads_are(story, "one", ("Synced", 1))
    story.watches(BAR_USER, [OWN, "secrets in namespace namespace-bar", "secrets other-bar/secret-bar"])
    holds_only(story, [("namespace-bar", "secret-bar"), ("namespace-bar", "more"), ("other-bar", "secret-bar")],
               ("other-bar", "hidden"))

    story.act("a Bar for the Secrets of the cluster, and the permission (the narrower watches end 30 s later)", lambda: apply(
        story, bound("all-secrets"), bar("all", {"secretsInCluster": True, "secretsInNamespace": {"namespace": "namespace-bar"}})))
    reads_are(story, "all", ("Synced", 2), ("Synced", 4))
    # The wider watch delivers the narrower scopes, too. Theirs end after 30 s.
    story.watches(BAR_USER, [OWN, "secrets in the cluster"], patience=120)

    story.act("the Bar for the cluster is deleted: the narrower scopes need their watches again",
              lambda: story.world.kubectl("delete", "bar", "all", "-n", "default"))
    story.watches(BAR_USER, [OWN, "secrets in namespace namespace-bar", "secrets other-bar/secret-bar"])

    # An open connection keeps the last bytes that came, until others come.
    story.act("a large Bar comes over the same connection", lambda: apply(story, bar("large", {}, filler=100_000)))
    forgets(story, "no Secret that only the cluster's watch had", ("other-bar", "hidden"))

    # A demo that stays goes on with a bar that may not read the Secrets of the cluster.
    story.world.kubectl("delete", "clusterrolebinding", "all-secrets")
    story.act("the others are deleted", lambda: story.world.kubectl("delete", "bars", "--all", "-n", "default"))
    story.watches(BAR_USER, [OWN])

    story.act("another large Bar comes", lambda: apply(story, bar("larger", {}, filler=100_000)))
    forgets(story, "no Secret", *SECRETS)
