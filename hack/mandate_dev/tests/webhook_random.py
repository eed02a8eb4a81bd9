"""Tests the random cases of webhook_differential."""
import itertools
import unittest
from typing import Any

from mandate_dev.cases.e2e.webhook_random import AWAITED, Case, Dice, User, breakdown, features, generate_name

NOBODY = User("nobody", [], [])


def cases(seed: int, names: list[str]) -> tuple[list[Case], set[str]]:
    """Random cases, and their features."""
    dice = Dice(seed)
    templates = dice.templates()
    users = dice.users(templates, names)
    made = [dice.case(who, templates) for _, who in zip(range(2000), itertools.cycle(users))]
    return made, {feature for case in made for feature in features(case, templates)}


class WebhookRandom(unittest.TestCase):
    def test_a_seed_determines_the_cases(self) -> None:
        self.assertEqual(cases(1, ["a", "b"]), cases(1, ["a", "b"]))
        self.assertNotEqual(cases(1, ["a", "b"])[0], cases(2, ["a", "b"])[0])

    def test_the_names_of_roles_decide_nothing_else(self) -> None:
        def shape(names: list[str]) -> list[Any]:
            return [(case.user.name, case.kind, case.number, case.namespaces, case.selector, len(case.roles))
                    for case in cases(1, names)[0]]
        self.assertEqual(shape(["a", "b"]), shape(["c", "d"]))

    def test_every_feature_occurs(self) -> None:
        for seed in range(1, 6):
            found = cases(seed, ["a", "b"])[1]
            for feature in ("template", "awaited", "instance", "orphan", "selector", "0 namespaces", "1 namespaces", "2 namespaces",
                            "two roles", "several rules", "* in verbs", "* in apiGroups", "* in resources",
                            "* in nonResourceURLs", "a prefix of URLs", "resourceNames", "pods/log", "pods/*", "*/scale",
                            "escalate", "bind", "impersonate", "group ''", "rights of a group", "rights in a namespace",
                            "may bind some ClusterRoles", "may bind all ClusterRoles", "may escalate some ClusterRoles",
                            "may escalate all ClusterRoles"):
                self.assertIn(feature, found)

    def test_rules_are_broken_down(self) -> None:
        self.assertEqual(breakdown({"verbs": ["get", "list"], "nonResourceURLs": ["/a"]}),
                         [{"verbs": ["get"], "nonResourceURLs": ["/a"]}, {"verbs": ["list"], "nonResourceURLs": ["/a"]}])

    def test_scopes_are_those_of_the_equivalent_bindings(self) -> None:
        rows: list[tuple[list[str], Any, list[str]]] = [
            (["b", "a"], None, ["a", "b"]), ([], None, [""]), (["a"], {}, [""]), ([], {}, [""])]
        for namespaces, selector, scopes in rows:
            self.assertEqual(Case(NOBODY, "instance", namespaces=namespaces, selector=selector).scopes(), scopes)
        self.assertEqual(Case(NOBODY, "template").scopes(), [])
        self.assertEqual(Case(NOBODY, "awaited", len(AWAITED) - 1).scopes(), ["default", "kube-public"])

    def test_half_of_the_names_end_in_a_dash(self) -> None:
        self.assertEqual([generate_name(0, 0), generate_name(1, 0)], ["dif-0-0", "dif-1-0-"])
