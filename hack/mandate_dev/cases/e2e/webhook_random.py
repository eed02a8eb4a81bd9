"""Random users, ScopeTemplates and writes of them, for webhook_differential. A seed determines all of them."""
import dataclasses
import random
from collections.abc import Sequence
from typing import Any

Rule = dict[str, list[str]]
Rules = list[Rule]

RBAC = "rbac.authorization.k8s.io"
NAMESPACES = ("default", "kube-public")
ANY = "*"
VERBS = ["get", "list", "create", ANY, "escalate", "bind", "impersonate"]
GROUPS = ["", "apps", RBAC, ANY]
RESOURCES = ["pods", "pods/log", "pods/*", "*/log", "*/scale", "deployments", "deployments/scale", "clusterroles", "users", ANY]
# Rules can have the name "", which only a request without a name has.
NAMES = ["a", "b", "c", ""]
URLS = ["/dif", "/dif/a", "/dif/*", "/di*", "/metrics", ANY]
MEMBERS = {"verbs": VERBS, "apiGroups": GROUPS, "resources": RESOURCES, "resourceNames": NAMES, "nonResourceURLs": URLS}

TEMPLATES = 16
USERS = 60
# Where the ScopeInstances bind that exist before their template: namespaces, and a selector.
AWAITED: list[list[tuple[list[str], Any]]] = [
    [(["default"], None)], [(["default", "kube-public"], None)], [([], None)], [([], {"dif": "none"})],
    [(["default"], None), (["kube-public"], None)]]
ROLE_ABSENT = "dif-absent"


@dataclasses.dataclass(frozen=True)
class Grant:
    """Rights of a user."""

    namespace: str  # "": a ClusterRoleBinding
    rules: Rules
    to_group: bool  # to a group that only this user is in
    as_role: bool  # a Role in the namespace instead of a ClusterRole


@dataclasses.dataclass(frozen=True)
class User:
    name: str
    groups: list[str]
    grants: list[Grant]

    def subject(self, grant: Grant) -> dict[str, str]:
        if grant.to_group:
            return {"kind": "Group", "name": self.groups[-1], "apiGroup": RBAC}
        if self.name.startswith("system:serviceaccount:"):
            return {"kind": "ServiceAccount", "namespace": self.name.split(":")[2], "name": self.name.split(":")[3]}
        return {"kind": "User", "name": self.name, "apiGroup": RBAC}


@dataclasses.dataclass(frozen=True)
class Case:
    """A creation of a ScopeTemplate with these roles, or of a ScopeInstance.

    kind: "template"; "awaited", a template that the instances AWAITED[number] wait for; "instance", of the template with
    this number; "orphan", an instance of a template that does not exist.
    """

    user: User
    kind: str
    number: int = 0
    roles: list[Rules] = dataclasses.field(default_factory=list)
    namespaces: list[str] = dataclasses.field(default_factory=list)
    selector: Any = None

    def scopes(self) -> list[str]:
        """The namespaces of the equivalent bindings; "" is a ClusterRoleBinding. A selector counts as the whole
        cluster, because any namespace may match it later."""
        if self.kind == "template":
            return []
        reach = AWAITED[self.number] if self.kind == "awaited" else [(self.namespaces, self.selector)]
        found = sorted({name for names, selector in reach for name in (names if names and selector is None else [""])})
        return [""] if "" in found else found


def generate_name(template: int, role: int) -> str:
    """Of a role of an existing template. Half of them have no dash."""
    return f"dif-{template}-{role}{'-' if template % 2 else ''}"


def breakdown(rule: Rule) -> Rules:
    """Returns rules with one member of each sort, which together grant the same."""
    parts: Rules = [{}]
    for key, members in rule.items():
        parts = [{**part, key: [member]} for part in parts for member in members]
    return parts


class Dice:
    """Makes random objects. Its own choices never depend on the names of ClusterRoles, which differ between runs."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self.chance, self.choice = self._random.random, self._random.choice

    def some(self, members: Sequence[str], most: int = 2) -> list[str]:
        return self._random.sample(members, min(len(members), 1 + int(self.chance() * most)))

    def rule(self) -> Rule:
        if self.chance() < 0.2:
            return {"verbs": self.some(VERBS[:4]), "nonResourceURLs": self.some(URLS)}
        rule = {key: self.some(MEMBERS[key]) for key in ("verbs", "apiGroups", "resources")}
        if self.chance() < 0.3:
            rule["resourceNames"] = self.some(NAMES)
        return rule

    def rules(self, most: int = 3) -> Rules:
        return [self.rule() for _ in range(int(self.chance() * (most + 1)))]

    def narrower(self, rule: Rule) -> Rule:
        """Returns a rule that grants a part of it."""
        found: Rule = {}
        for key, members in rule.items():
            # A member that a wildcard contains, or perhaps not: `*` of URLs and of resources do, `pods/*` does not.
            found[key] = [self.choice(MEMBERS[key]) if member == ANY and self.chance() < 0.7
                          else "deployments/scale" if member == "*/scale" and self.chance() < 0.5
                          else "pods/log" if member in ("pods/*", "*/log") and self.chance() < 0.5
                          else "/dif/a" if member.endswith("*") and key == "nonResourceURLs" and self.chance() < 0.5
                          else member for member in self.some(members)]
        if "nonResourceURLs" not in rule and "resourceNames" not in rule and self.chance() < 0.3:
            found["resourceNames"] = self.some(NAMES)
        return {key: sorted(set(members)) for key, members in found.items()}

    def wider(self, rule: Rule) -> Rule:
        """Returns a rule that grants the same and perhaps more."""
        key = self.choice(sorted(rule))
        if key == "resourceNames":
            return {k: members for k, members in rule.items() if k != key}
        more = ANY if self.chance() < 0.5 else self.choice(MEMBERS[key])
        return {**rule, key: sorted({*rule[key], more})}

    def cover(self, rules: Rules) -> Rules:
        """Returns rules whose union grants `rules`, or once in a while nearly."""
        found: Rules = []
        for rule in rules:
            found += breakdown(rule) if self.chance() < 0.6 else [rule]
        self._random.shuffle(found)
        if found and self.chance() < 0.3:
            lost = found.pop()
            if "nonResourceURLs" not in lost and self.chance() < 0.7:
                # Perhaps for requests without a name, which is less than for every name.
                found.append({**lost, "resourceNames": self.some(NAMES, 1)})
        return [self.wider(rule) if self.chance() < 0.3 else rule for rule in found]

    def templates(self) -> list[list[Rules]]:
        """Returns the rules of the roles of each existing template. One role has none."""
        empty: list[Rules] = [[]]
        return [empty, *([self.rules() or [self.rule()] for _ in range(1 + (self.chance() < 0.3))] for _ in range(TEMPLATES - 1))]

    def _special(self, names: Sequence[str]) -> Rule:
        """Returns `bind` or `escalate` on some or all ClusterRoles. names: of ClusterRoles, in the order of templates."""
        rule = {"verbs": [self.choice(["bind", "escalate", "bind"])], "apiGroups": [RBAC], "resources": ["clusterroles"]}
        named, first, other = self.chance() < 0.6, self.choice(range(len(names))), self.choice(["dif-new", "", "*"])
        if named:
            # With at most half of the names, so that a lack of the others is noticed, too.
            some = [name for i, name in enumerate(names) if (i + first) % 2]
            rule["resourceNames"] = [*some, other]
        return rule

    def user(self, number: int, templates: Sequence[list[Rules]], names: Sequence[str]) -> User:
        grants = []
        for _ in range(1 + int(self.chance() * 3)):
            namespace = self.choice(["", "", *NAMESPACES])
            known = self.choice(templates)
            rules = self.cover([rule for role in known for rule in role]) if self.chance() < 0.7 else self.rules()
            if namespace:
                # A RoleBinding does not grant its role's URLs to anybody, and access reviews say so, but the API server's
                # escalation check counts them. The webhook is the stricter one (docs/webhooks.md).
                rules = [rule for rule in rules if "nonResourceURLs" not in rule]
            grants.append(Grant(namespace, rules, self.chance() < 0.4, self.chance() < 0.5))
        if self.chance() < 0.5:
            grants.append(Grant(self.choice(["", "", "default"]), [self._special(names)], self.chance() < 0.4, False))
        name = f"system:serviceaccount:default:dif-{number}" if number % 5 == 0 else f"dif-user-{number}"
        return User(name, ["dif-writers", f"dif-team-{number}"], grants)

    def users(self, templates: Sequence[list[Rules]], names: Sequence[str]) -> list[User]:
        """Returns users, and one whose group the API server allows everything."""
        return [*(self.user(i, templates, names) for i in range(USERS - 1)), User("dif-root", ["dif-writers", "system:masters"], [])]

    def _wanted(self, user: User, templates: Sequence[list[Rules]]) -> list[Rules]:
        """Returns the roles of a template, often such that the user holds them."""
        held = [rule for grant in user.grants for rule in grant.rules if not grant.namespace or self.chance() < 0.1]
        dice = self.chance()
        if dice < 0.03:
            return [[]]
        if dice < 0.15 or not held:
            return [self.rules(2) or [self.rule()]]
        if dice < 0.3:
            return self.choice(templates)
        roles = []
        for _ in range(1 + (self.chance() < 0.2)):
            roles.append([self.narrower(self.choice(held)) for _ in range(1 + int(self.chance() * 3))])
        return roles

    def case(self, user: User, templates: Sequence[list[Rules]]) -> Case:
        dice = self.chance()
        if dice < 0.45:
            return Case(user, "template", roles=self._wanted(user, templates))
        number = int(self.chance() * len(AWAITED))
        known = int(self.chance() * len(templates))
        if dice < 0.6:
            return Case(user, "awaited", number, templates[known])
        namespaces = list(self.choice([(), ("default",), ("kube-public",), NAMESPACES, NAMESPACES]))
        selector = self.choice([{}, {"matchLabels": {"dif": "none"}}, {"dif": "none"}]) if self.chance() < 0.15 else None
        return Case(user, "orphan" if dice < 0.65 else "instance", known, namespaces=namespaces, selector=selector)


def features(case: Case, templates: Sequence[list[Rules]]) -> set[str]:
    """Returns the features of the case that must occur among the allowed and among the denied ones."""
    roles = templates[case.number] if case.kind == "instance" else case.roles
    rules = [rule for role in roles for rule in role]
    found = {case.kind, f"{len(case.namespaces)} namespaces" if case.kind == "instance" else case.kind}
    if case.selector is not None:
        found.add("selector")
    if len(roles) > 1:
        found.add("two roles")
    if any(len(role) > 1 for role in roles):
        found.add("several rules")
    for rule in rules:
        found.update(f"{ANY} in {key}" for key, members in rule.items() if ANY in members and key != "resourceNames")
        found.update({"resourceNames", "nonResourceURLs"} & set(rule))
        found.update(set(rule["verbs"]) & {"escalate", "bind", "impersonate"})
        found.update(set(rule.get("resources", [])) & {"pods/log", "pods/*", "*/scale", "*/log"})
        found.update(f"group {group!r}" for group in rule.get("apiGroups", []) if group != ANY)
        if any(url.endswith("/*") for url in rule.get("nonResourceURLs", [])):
            found.add("a prefix of URLs")
    for grant in case.user.grants:
        found.add("rights in the cluster" if not grant.namespace else "rights in a namespace")
        if grant.to_group:
            found.add("rights of a group")
        if any("" in rule.get("resourceNames", []) for rule in grant.rules):
            found.add("rights to no name")
        for rule in grant.rules:
            if rule.get("resources") == ["clusterroles"] and rule["verbs"] in (["bind"], ["escalate"]):
                found.add(f"may {rule['verbs'][0]} {'some' if 'resourceNames' in rule else 'all'} ClusterRoles")
    return found
