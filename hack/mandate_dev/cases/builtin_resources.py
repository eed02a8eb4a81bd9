"""Compares rbacgen's table of Kubernetes' own resources and their names with a real API server.

usage: rbacgen/builtin_cluster_test [--rbacgen PROGRAM] [NAME…] [-k PATTERN]… [--list] [--junit FILE]

PROGRAM is built if it is not given. Starts a control plane of its own and stops it. The last line is
`N passed, N failed`; the exit code is 0 only when nothing failed.
"""
import json
import os
import re
import subprocess
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from mandate_dev import bazel, runner
from mandate_dev.cases import ClusterCase

Key = tuple[str, str]  # group, resource
VERBS = frozenset("create delete deletecollection get list patch update watch".split())


def who_holds(resources: Iterable[Key]) -> dict[str, Any]:
    """Returns manifests in which each resource is granted by a binding of its name."""
    ref = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole"}
    meta: dict[str, Any] = {"apiVersion": "rbac.authorization.k8s.io/v1"}
    items: list[dict[str, Any]] = []
    for group, name in resources:
        title = {"name": f"{name}.{group}"}
        items += [{**meta, "kind": "ClusterRole", "metadata": title,
                   "rules": [{"apiGroups": [group], "resources": [name], "verbs": ["get"]}]},
                  {**meta, "kind": "ClusterRoleBinding", "metadata": title, "roleRef": {**ref, **title},
                   "subjects": [{"kind": "User", "name": "ann"}]}]
    return {"kind": "List", "items": items}


def meanings(resources: Iterable[tuple[str, Any]]) -> dict[str, Key]:
    """Returns the names that kubectl accepts, as {name: (group, plural)}: each name in discovery, alone and with its
    group."""
    found: dict[str, set[Key]] = {}
    for group, r in resources:
        for name in {r["name"], r["singularName"], r["kind"], r["name"].upper(), *r.get("shortNames", [])}:
            for asked in {name, f"{name}.{group}", f"{name}.v1.{group}"} if group else {name}:
                found.setdefault(asked, set()).add((group, r["name"]))
    # If several groups have the name, as for events, kubectl uses the first group in discovery: the core group.
    return {name: min(them) for name, them in found.items()}


class BuiltinResources(ClusterCase):
    program: ClassVar[str | None] = None
    discovered: ClassVar[list[tuple[str, Any]]]
    served: ClassVar[dict[Key, tuple[bool, frozenset[str]]]]

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.discovered = cls.discovery()
        cls.served = {}
        for group, r in cls.discovered:
            _, verbs = cls.served.get((group, r["name"]), (None, frozenset()))
            cls.served[group, r["name"]] = (r["namespaced"], verbs | set(r["verbs"]))

    @classmethod
    def discovery(cls) -> list[tuple[str, Any]]:
        """[(group, resource as discovery describes it)], of every version."""
        paths = [("", "/api/v1")]
        for group in json.loads(cls.cluster.kubectl("get", "--raw", "/apis"))["groups"]:
            paths += [(group["name"], "/apis/" + v["groupVersion"]) for v in group["versions"]]
        return [(group, r) for group, path in paths
                for r in json.loads(cls.cluster.kubectl("get", "--raw", path))["resources"]]

    def check(self, markers: Iterable[str]) -> list[str]:
        """Returns the findings of `rbacgen check` for a file with these markers, in their order; "" for no finding."""
        rbacgen = self.program or bazel.program("//rbacgen")
        lines = list(markers)
        with open(os.path.join(self.folder, "markers.go"), "w", encoding="utf-8") as f:
            f.write("\n".join(["package markers", *lines, ""]))
        done = subprocess.run([rbacgen, "check", "markers.go"], cwd=self.folder, capture_output=True, text=True, timeout=600)
        said = dict(re.findall(r"^markers\.go:(\d+): (.*)$", done.stdout, re.M))
        return [said.get(str(2 + at), "") for at in range(len(lines))]

    def test_check_reports_exactly_the_verbs_that_a_resource_does_not_support(self) -> None:
        asked = [(group, name, verb) for group, name in self.served for verb in sorted(VERBS)]
        said = self.check(f'// +kubebuilder:rbac:groups="{group}",resources={name},verbs={verb}' for group, name, verb in asked)
        wrong = [(key, text) for key, text in zip(asked, said)
                 if ("does not support verb" in text) == (key[2] in self.served[key[:2]][1])]
        self.assertEqual([], wrong)
        self.assertGreaterEqual(len(self.served), 100)

    def test_check_reports_exactly_the_cluster_scoped_resources_in_a_namespace(self) -> None:
        keys = sorted(self.served)
        said = self.check(f'// +kubebuilder:rbac:groups="{group}",resources={name},verbs={min(self.served[group, name][1])},namespace=system'
                          for group, name in keys)
        # A request for one Namespace belongs to that namespace.
        wrong = [(key, text) for key, text in zip(keys, said)
                 if ("are cluster-scoped" in text) == self.served[key][0] and not key[1].startswith("namespaces")]
        self.assertEqual([], wrong)

    def test_names_of_resources_mean_what_they_mean_to_kubectl(self) -> None:
        rbacgen = self.program or bazel.program("//rbacgen")
        whole = [(group, r) for group, r in self.discovered if "/" not in r["name"]]
        held = os.path.join(self.folder, "held.json")
        with open(held, "w", encoding="utf-8") as f:
            json.dump(who_holds({(group, r["name"]) for group, r in whole}), f)
        wrong, names = {}, meanings(whole)
        for name, (group, plural) in names.items():
            done = subprocess.run([rbacgen, "who-can", "get", name, f"--input={held}"], capture_output=True, text=True, timeout=600)
            holders = re.findall(r"ClusterRoleBinding (\S+)", done.stdout)
            if holders != [f"{plural}.{group}"]:
                wrong[name] = (holders, f"{plural}.{group}")
        self.assertEqual({}, wrong)
        self.assertGreaterEqual(len(names), 300)


def main(argv: Sequence[str]) -> int:
    parser = runner.Parser("rbacgen/builtin_cluster_test", __doc__)
    parser.add_argument("--rbacgen")
    options = parser.parse_args(argv)
    BuiltinResources.program = os.path.abspath(options.rbacgen) if options.rbacgen else None
    return runner.run("rbacgen/builtin_cluster_test", [BuiltinResources], options)
