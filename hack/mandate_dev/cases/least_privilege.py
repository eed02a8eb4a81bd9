"""Checks on a real control plane that mandate-manager's declared, compiled, used and granted permissions are the same.

usage: hack/least_privilege_test [--keep DIR] [NAME…] [-k PATTERN]… [--list] [--junit FILE]

Plays the demo, then asks rbacgen: the four-way report, the diff of the tree and the cluster, and a matrix of can-i
questions compared with kubectl's own answers. Each is also shown to fail where it should. The cases run in this order on
one cluster. With --keep the audit log is left in DIR. The last line is `N passed, N failed`.
"""
import glob
import itertools
import json
import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from typing import Any, ClassVar

from mandate_dev import runner, webhooks
from mandate_dev.cases import WorldCase, WorldFixture
from mandate_dev.cases.e2e import checks as e2e
from mandate_dev.cases.e2e.metrics_checks import scrape
from mandate_dev.demo import story
from mandate_dev.world import BASE, NAMESPACE, PATIENCE

SOURCES = ["webhooks", "manager/telemetry"]
OTHER_PROGRAMS = ["controllers/access_observer", "controllers/memcached"]


class LeastPrivilegeFixture(WorldFixture):
    name = "least-privilege"
    keep: ClassVar[str | None] = None

    def stop(self, keep_logs: bool) -> None:
        if self.keep and os.path.exists(self.world.audit_log):
            os.makedirs(self.keep, exist_ok=True)
            shutil.copyfile(self.world.audit_log, os.path.join(self.keep, "audit.log"))
        super().stop(keep_logs)


class LeastPrivilege(WorldCase):
    fixture = LeastPrivilegeFixture
    sources: ClassVar[list[str]]
    in_cluster: ClassVar[list[str]]

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        folders = sorted(glob.glob("controllers/*/", root_dir=cls.world.root))
        sources = [folder.rstrip("/") for folder in folders] + SOURCES
        cls.sources = [s for s in sources if s not in OTHER_PROGRAMS and os.path.isdir(os.path.join(cls.world.root, s))]
        cls.in_cluster = ["--kubeconfig", cls.world.cluster.kubeconfig, "--kubectl", cls.world.cluster.kubectl_program]

    def rbacgen(self, *arguments: str, cwd: str | None = None) -> tuple[int, str, str]:
        """(exit code, output, errors)"""
        done = subprocess.run([self.world.rbacgen, *arguments], cwd=cwd or self.world.root, text=True, capture_output=True)
        return done.returncode, done.stdout, done.stderr

    def audit(self, *arguments: str, cwd: str | None = None) -> tuple[int, str, str]:
        return self.rbacgen("audit", *arguments, f"--compiled={self.world.manager_program}", "--granted=cluster",
                            *self.in_cluster, *[f"--sources={s}" for s in self.sources], self.world.audit_log, cwd=cwd)

    def test_the_demo(self) -> None:
        """The work that the audit log records."""
        story.play(self.world, self.report, kill=False)

    def test_changes_by_hand_are_reverted(self) -> None:
        """The manager reverts changes by hand: these are writes that the demo does not cause."""
        world, name = self.world, "least"
        e2e.apply(world, e2e.template(name), e2e.instance([], name, name))

        def objects(kind: str) -> list[Any]:
            return [o for o in world.get(kind)["items"]
                    if o["metadata"]["name"].removeprefix("scope-template:").startswith(name + "-")]
        for kind, field in (("clusterroles", "rules"), ("clusterrolebindings", "subjects")):
            world.eventually(f"{kind} are there", lambda: (len(objects(kind)) == 1, objects(kind)))
            whole = objects(kind)[0]
            world.kubectl("patch", kind, whole["metadata"]["name"], "--type=json", "-p",
                          json.dumps([{"op": "remove", "path": f"/{field}"}]))
            world.eventually(f"{kind} have their {field} again",
                             lambda: (objects(kind)[0].get(field) == whole[field], objects(kind)))
        world.kubectl("delete", f"scopeinstance/{name}", f"scopetemplate/{name}")
        world.eventually("all objects are gone", lambda: (
            objects("clusterroles") + objects("clusterrolebindings") == [], "it is not"))

    def test_samples_are_kept(self) -> None:
        """Creates work for components with a sample: creates the sample, then changes it (sample.yaml,
        sample_changed.yaml)."""
        samples = sorted(glob.glob(os.path.join(self.world.root, "controllers", "*", "sample*.yaml")))
        for sample in samples:
            self.world.kubectl("apply", "-f", sample)
            self.world.kubectl("wait", "--for=condition=Ready", "-f", sample, f"--timeout={PATIENCE}s")
            self.held(os.path.relpath(sample, self.world.root))

    def test_metrics_are_asked_for(self) -> None:
        """Creates work for the component metrics-auth."""
        self.world.stop_manager()
        self.world.start_manager("--metrics-secure", "-v=1")
        self.world.await_ready()
        token = self.world.kubectl("create", "token", "default", "-n", "default").strip()
        code, _ = scrape(self.world, token)
        self.expect("a user without the permission to scrape is denied: 403", code == 403, code)

    def test_webhooks_are_asked(self) -> None:
        """Creates work for the component scope-webhook."""
        webhooks.serve(self.world, "--metrics-secure")
        e2e.apply(self.world, e2e.template("asked"), e2e.instance([], "asked", "asked"))
        self.world.kubectl("delete", "scopeinstance/asked", "scopetemplate/asked")

    def test_four_way_report(self) -> None:
        """Declared, compiled, used and granted permissions agree; base wrote only tokens and its lease."""
        code, out, err = self.audit()
        self.report.say(out.rstrip())
        code_json, text, _ = self.audit("--json")
        self.expect("exit 0", code == 0 and code_json == 0, out.splitlines()[-12:] + [err])
        findings = json.loads(text)["findings"]
        self.expect("no permission is unused, no request denied or undeclared, and base stays within its bounds", findings == [], findings)
        self.expect("each component's token was made by base, and used", all(
            t["joined"] for t in json.loads(text)["tokens"]) and json.loads(text)["tokens"], text[-2000:])

    def test_an_unused_verb_is_found(self) -> None:
        """An unused verb is found, and the suggestion removes it again."""
        folder = os.path.join(self.world.folder, "tree")
        for source in self.sources:
            shutil.copytree(os.path.join(self.world.root, source), os.path.join(folder, source))
        path = os.path.join(folder, "controllers/scope/instance_reconciler.h")
        with open(path, encoding="utf-8") as f:
            text = f.read()
        more = text.replace("resources=namespaces,verbs=list;watch", "resources=namespaces,verbs=list;watch;delete")
        self.expect("the copied tree has one verb more", more != text, text[:600])
        with open(path, "w", encoding="utf-8") as f:
            f.write(more)
        code, out, _ = self.audit(cwd=folder)
        self.expect("exit 1, the verb is named", code == 1 and "never used: delete namespaces" in out, out)
        code, diff, _ = self.audit("--suggest", cwd=folder)
        subprocess.run(["patch", "--quiet", "-p0"], input=diff, text=True, check=True, cwd=folder)
        with open(path, encoding="utf-8") as f:
            self.expect("the suggestion removes it, and nothing else", f.read() == text, diff)

    def test_the_tree_and_the_cluster(self) -> None:
        """The cluster grants what the tree declares; an additional permission is reported in plain words."""
        tree = ",".join(self.sources)
        code, out, err = self.rbacgen("diff", tree, "cluster", *self.in_cluster)
        self.expect("no difference", code == 0 and out == "", out + err)
        self.world.kubectl("create", "clusterrolebinding", "too-much", "--clusterrole=view",
                           f"--serviceaccount={NAMESPACE}:{BASE}-scope-instance")
        try:
            code, out, _ = self.rbacgen("diff", tree, "cluster", *self.in_cluster)
            self.expect("an additional binding is a difference", code == 1 and out.startswith("scope-instance\n  + may "), out)
        finally:
            self.world.kubectl("delete", "clusterrolebinding", "too-much")

    def test_can_i(self) -> None:
        """rbacgen gives the same answers as `kubectl auth can-i` does from the cluster."""
        dump = os.path.join(self.world.folder, "rbac.json")
        with open(dump, "w", encoding="utf-8") as f:
            f.write(self.world.kubectl("get", "clusterroles,clusterrolebindings,roles,rolebindings,serviceaccounts", "-A",
                                       "-o", "json"))
        users = [f"{NAMESPACE}/{BASE}{s}" for s in ("", "-scope-instance", "-scope-template")]
        users += ["kube-system/replicaset-controller", "default/default"]
        things = [("create", "serviceaccounts", "token"), ("update", "leases.coordination.k8s.io/mandate-manager", ""),
                  ("patch", "scopeinstances.operators.coreos.com", "status"), ("list", "namespaces", ""),
                  ("create", "rolebindings.rbac.authorization.k8s.io", ""), ("get", "secrets", ""),
                  ("bind", "clusterroles.rbac.authorization.k8s.io", ""), ("update", "replicasets.apps", "status")]
        asked, yes, differ = 0, 0, []
        for who, (verb, resource, sub), ns in itertools.product(users, things, (NAMESPACE, "kube-system")):
            account = who.replace("/", ":")
            theirs = self.world.kubectl("auth", "can-i", verb, resource, *([f"--subresource={sub}"] if sub else []), "-n", ns,
                                        f"--as=system:serviceaccount:{account}", "--as-group=system:authenticated",
                                        "--as-group=system:serviceaccounts",
                                        f"--as-group=system:serviceaccounts:{who.split('/')[0]}", check=False).strip()
            code, ours, _ = self.rbacgen("can-i", f"--as={who}", verb, resource, *([f"--subresource={sub}"] if sub else []),
                                         "-n", ns, f"--input={dump}")
            asked, yes = asked + 1, yes + (theirs == "yes")
            theirs = re.split(r"\s", theirs)[0]
            if ours.strip() != theirs or code != (0 if theirs == "yes" else 1):
                differ.append((who, verb, resource, sub, ns, theirs, ours.strip(), code))
        self.expect(f"{asked} questions, {yes} of them yes, no difference", not differ and 0 < yes < asked, differ)

    def test_blast_radius(self) -> None:
        """Base can get tokens of its components and of no other ServiceAccount."""
        code, out, err = self.rbacgen("blast-radius", "cluster", "--json", *self.in_cluster)
        steps = json.loads(out)["steps"] if code == 0 else []
        reached = [s["reached"] for s in steps if "serviceaccounts/token" in s.get("right", "")]
        self.expect("base reaches its components by tokens", {"scope-instance", "scope-template"} <= set(reached)
                    and not any("/" in r for r in reached), (steps[:12], err))


def main(argv: Sequence[str]) -> int:
    parser = runner.Parser("hack/least_privilege_test", __doc__)
    parser.add_argument("--keep")
    options = parser.parse_args(argv)
    LeastPrivilegeFixture.keep = options.keep
    return runner.run("hack/least_privilege_test", [LeastPrivilege], options)
