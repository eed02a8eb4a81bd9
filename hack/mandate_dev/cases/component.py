"""make component: its output builds, passes its tests and runs under its own identity, and a failure leaves nothing behind.

usage: hack/component_test [NAME…] [-k PATTERN]… [--list] [--junit FILE]

The last line is `N passed, N failed`.

Works in a clone of the last commit, with the scaffold of the working tree. If BAZEL_OUTPUT_BASE is set, Bazel's outputs
are in a folder next to it and stay there; otherwise they are removed with the clone.
"""
import json
import os
import shutil
import subprocess
import unittest
from collections.abc import Sequence
from typing import Any, ClassVar

from mandate_dev import paths, runner, webhooks
from mandate_dev.paths import TOOLS, ROOT
from mandate_dev.report import Report, StepFailed
from mandate_dev.world import BASE, NAMESPACE, World

# Several components, so that each but the first is added to a tree that has one; their names have a hyphen and an
# irregular plural.
COMPONENTS = [("backup", "Backup", "mandate.io", "backups"), ("disk-check", "DiskPolicy", "disks.example.com", "diskpolicies"),
              ("guest-list", "GuestList", "mandate.io", "guestlists")]
OPTIONS: dict[str, list[str]] = {"backup": [], "disk-check": ["--webhook", "--conversion"], "guest-list": ["--conversion", "--demands"]}
# A component of a kind that every API server has.
EXISTING = ("config-names", "ConfigMap", "configmaps")
BAZEL_SECONDS = 3600

REJECTED = [
    (["base", "Backup"], "NAME"), (["Backup", "Backup"], "NAME"), (["-a", "Backup"], "NAME"), (["a--b", "Backup"], "NAME"),
    (["2fa", "Backup"], "NAME"), (["../x", "Backup"], "NAME"), (["a" * 64, "Backup"], "NAME"), (["class", "Backup"], "NAME"),
    (["std", "Backup"], "NAME"), (["v1alpha1", "Backup"], "NAME"), (["boost", "Backup"], "NAME"), (["errno", "Backup"], "NAME"), (["ready", "Backup"], "kReady"), (["rbac", "Backup"], "NAME"), (["scope", "Backup"], "controllers/scope exists"),
    (["scope-instance", "Backup"], "there is a component scope-instance"), (["thing", "backup"], "KIND"),
    (["thing", "K" + "k" * 59], "at most 59"), (["thing", "EOF"], "KIND"), (["thing", "Disk_Check"], "KIND"), (["thing", "Backup", "nodots"], "GROUP"), (["thing", "Backup", "apps.k8s.io"], "GROUP"),
    (["thing", "ScopeInstance", "operators.coreos.com"], "there is a kind scopeinstances"),
    (["--webhooks", "thing", "Backup"], 'unknown option "--webhooks"'), (["--conversion=no", "thing", "Backup"], "CONVERSION must be 1"),
    (["--webhook", "scope", "Backup"], "controllers/scope exists"),
    (["--resource=false", "thing", "Backup"], 'KIND "Backup" is not one of group core'), (["--resource=false", "thing", "Pod", "nodots"], 'GROUP "nodots" is not one of Kubernetes\' own'),
    (["--conversion", "b" * 56, "Backup"], f"the component {'b' * 56}-webhook would have more than 63 letters"),
]


class Tree:
    """A clone to work in."""

    def __init__(self, folder: str) -> None:
        self.root = os.path.join(folder, "tree")
        given = os.environ.get("BAZEL_OUTPUT_BASE")
        self.own_outputs = None if given else os.path.join(folder, "bazel")
        os.environ["BAZEL_OUTPUT_BASE"] = self.own_outputs or f"{given}-component"
        self.run("git", "clone", "--quiet", ROOT, self.root, cwd=folder)
        for name in ("component_templates", "mandate_dev"):
            shutil.rmtree(os.path.join(self.root, "hack", name), ignore_errors=True)
            shutil.copytree(os.path.join(TOOLS, name), os.path.join(self.root, "hack", name))
        for name in ("component", "python"):
            shutil.copy2(os.path.join(TOOLS, name), os.path.join(self.root, "hack", name))

    def run(self, *command: str, cwd: Any = None, check: bool = True) -> Any:
        done = subprocess.run(command, cwd=cwd or self.root, text=True, capture_output=True, timeout=BAZEL_SECONDS)
        if check and done.returncode != 0:
            raise AssertionError(f"{' '.join(command)}: exit {done.returncode}\n{done.stdout[-6000:]}{done.stderr[-6000:]}")
        return done

    def state(self) -> dict[str, Any]:
        """Returns all differences from the commit, by content."""
        changed = self.run("git", "status", "--porcelain", "--untracked-files=all").stdout.splitlines()
        return {line: self.read(line[3:]) if os.path.exists(os.path.join(self.root, line[3:])) else None for line in changed}

    def read(self, path: str) -> Any:
        with open(os.path.join(self.root, path), encoding="utf-8") as f:
            return f.read()

    def write(self, path: str, text: str) -> None:
        with open(os.path.join(self.root, path), "w", encoding="utf-8") as f:
            f.write(text)

    def edited(self, path: str, old: str, new: str) -> Any:
        """A context in which the text is replaced."""
        return Edited(self, path, old, new)

    def rejected(self, arguments: Any, why: str) -> None:
        before = self.state()
        done = self.run("hack/component", *arguments, check=False)
        if done.returncode != 2 or done.stdout or why not in done.stderr or len(done.stderr.splitlines()) != 1:
            raise AssertionError(f"{arguments}: exit 2 and one line with {why}; saw exit {done.returncode}: {done.stdout}{done.stderr}")
        if self.state() != before:
            raise AssertionError(f"{arguments}: nothing to be written; saw {sorted(set(self.state()) ^ set(before))}")

    def close(self) -> None:
        if self.own_outputs:
            self.run("hack/bazel", "clean", "--expunge", check=False)
        else:
            self.run("hack/bazel", "shutdown", check=False)


class Edited:
    def __init__(self, tree: Any, path: str, old: str, new: str) -> None:
        self._tree, self._path, self._text = tree, path, tree.read(path)
        if old not in self._text:
            raise AssertionError(f"{path} has no {old!r}")
        tree.write(path, self._text.replace(old, new, 1))

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: Any) -> None:
        self._tree.write(self._path, self._text)


def runs(tree: Any, env: Any, report: Report, name: str, kind: str, resource: str) -> None:
    """The sample is reconciled, changes by hand are reverted, and only the component's ServiceAccount writes."""
    report.section(f"{kind}, by {name}")
    report.step("the sample is applied")
    sample = os.path.join(tree.root, "controllers", name.replace("-", "_"), "sample.yaml")
    # Each has its own name: both components would keep default/sample.
    text = tree.read(sample).replace("name: sample", f"name: {name}")
    env.kubectl("apply", "-f", "-", stdin=text)

    def content() -> Any:
        return json.loads(env.kubectl("get", "configmap", name, "-o", "json", check=False) or "{}").get("data")
    whole = {"content": "hello", "color": "blue"}
    env.eventually("its ConfigMap is there", lambda: (content() == whole, content()))
    env.kubectl("wait", "--for=condition=Ready", f"{resource}/{name}", "--timeout=300s")
    report.held("Ready")
    env.kubectl("patch", "configmap", name, "--type=merge", "-p", '{"data":{"content":"changed by hand"}}')
    env.eventually("a change by hand is reverted", lambda: (content() == whole, content()))
    env.kubectl("patch", resource, name, "--type=json", "-p", '[{"op":"remove","path":"/spec/extraData/color"}]')
    env.eventually("a key that the spec no longer has goes away", lambda: (content() == {"content": "hello"}, content()))
    env.kubectl("wait", "--for=jsonpath={.status.conditions[0].observedGeneration}=2", f"{resource}/{name}", "--timeout=300s")
    env.kubectl("patch", "configmap", name, "--type=merge", "-p", '{"data":{"more":"added by hand"}}')
    env.eventually("a key that others add is removed, too", lambda: (content() == {"content": "hello"}, content()))

    account = f"system:serviceaccount:{NAMESPACE}:{BASE}-{name}"
    report.step("the audit log: the users that wrote the ConfigMap and the status")
    kept = resource.split(".")[0]
    wanted = [(account, name, "patch", "configmaps", 201), (account, name, "patch", kept, 200),
              (account, name, "patch", "configmaps", 200),  # changed by hand
              (account, name, "patch", "configmaps", 200), (account, name, "patch", kept, 200),  # the spec lost a key
              (account, name, "patch", "configmaps", 200)]  # one key too many: removed, and nothing applied

    def writes() -> tuple[Any, Any]:
        """Compares the manager's writes of objects with this name, or as this component, with `wanted`."""
        found = []
        with open(env.audit_log, encoding="utf-8") as f:
            events = [json.loads(line) for line in f if line.endswith("\n")]
        for e in events:
            of, user = e.get("objectRef", {}), e["user"]["username"]
            if (e["stage"] == "ResponseComplete" and e["verb"] in ("create", "update", "patch", "delete")
                and e.get("userAgent", "").startswith("mandate-manager/") and of.get("resource") in ("configmaps", kept)
                and (of.get("name") == name or user == account)):
                found.append((user, e["userAgent"].split()[-1], e["verb"], of["resource"], e["responseStatus"]["code"]))
        return found == wanted, found
    env.eventually(f"as {account}: {', '.join(f'{w[2]} {w[3]}' for w in wanted)}, and no other write", writes)


def a_fence_stops(env: Any, report: Report, name: str) -> None:
    """Tests a limit that RBAC cannot express. This must follow the audit, which would report that another user acts as
    the component."""
    report.step(f"the fence of {name}: as its ServiceAccount, a ConfigMap without an owner")
    account = f"system:serviceaccount:{NAMESPACE}:{BASE}-{name}"

    def fenced() -> tuple[Any, Any]:
        done = env.cluster.try_kubectl("create", "configmap", "not-its-own", "--dry-run=server", f"--as={account}")
        return done.returncode != 0 and "ValidatingAdmissionPolicy" in done.stderr, done.stdout + done.stderr
    env.eventually("RBAC allows it, and a ValidatingAdmissionPolicy denies it", fenced)


def a_webhook_denies(tree: Any, env: Any, report: Report) -> None:
    """The manager starts with the webhook, and the API server asks it."""
    report.section("disk-check-webhook")
    webhooks.serve(env)
    text = tree.read("controllers/disk_check/sample.yaml").replace("color:", "content:")

    def denied() -> tuple[Any, Any]:
        done = env.cluster.try_kubectl("create", "--dry-run=server", "-f", "-", stdin=text)
        return done.returncode != 0 and "spec.extraData: the key \"content\"" in done.stderr, done.stdout + done.stderr
    env.eventually("an object that the schema admits, and the validator does not, is denied", denied)


def versions_are_converted(tree: Any, env: Any, report: Report, name: str, kind: str, resource: str) -> None:
    """An object of the older version is reconciled, and read in both versions."""
    report.section(f"{kind} in v1beta1, by {name}-webhook")
    sample, (plural, _, group) = f"{name}-v1beta1", resource.partition(".")
    text = tree.read(f"controllers/{name.replace('-', '_')}/sample_v1beta1.yaml").replace("sample-v1beta1", sample)

    def written() -> tuple[Any, Any]:
        done = env.cluster.try_kubectl("apply", "-f", "-", stdin=text)
        return done.returncode == 0, done.stdout + done.stderr
    env.eventually("the sample is written", written)
    env.kubectl("wait", "--for=condition=Ready", f"{plural}.v1.{group}/{sample}", "--timeout=300s")
    extra: dict[str, Any] = {"extraData": {"color": "blue"}}

    def is_converted() -> tuple[Any, Any]:
        read = {version: env.get(f"{plural}.{version}.{group}", sample) for version in ("v1", "v1beta1")}
        return (read["v1"]["spec"], read["v1beta1"]["spec"], read["v1"]["status"]) == (
            {"content": "hello", **extra}, {"text": "hello", **extra}, read["v1beta1"]["status"]), read
    env.eventually("it is read in both versions, with the same status", is_converted)


def a_grant_is_awaited(tree: Any, env: Any, report: Report, name: str, kind: str, resource: str) -> None:
    """What is denied is reported in the object's status, and done when an administrator grants it."""
    report.section(f"{kind} with servicesOf, by {name}")
    sample = f"{name}-services"
    text = tree.read(f"controllers/{name.replace('-', '_')}/sample_services.yaml").replace("sample-services", sample)
    env.kubectl("apply", "-f", "-", stdin=text)
    reason = "--for=jsonpath={.status.conditions[0].reason}="
    env.kubectl("wait", f"{reason}Denied", f"{resource}/{sample}", "--timeout=300s")
    report.held("Denied")
    env.kubectl("create", "rolebinding", name, "-n", "default", f"--clusterrole={BASE}-{name}-external",
                f"--serviceaccount={NAMESPACE}:{BASE}-{name}")
    env.kubectl("wait", f"{reason}Reconciled", f"{resource}/{sample}", "--timeout=300s")

    def listed() -> tuple[Any, Any]:
        data = env.get("configmap", sample)["data"]
        return data["services"] == "kubernetes", data
    env.eventually("granted: the ConfigMap lists the Services", listed)


def labels(env: Any, report: Report) -> None:
    """The component of an existing kind labels what asks for it, as its own ServiceAccount."""
    name, kind, resource = EXISTING
    report.section(f"{kind}, by {name}")
    env.kubectl("create", "configmap", name)
    env.kubectl("annotate", resource, name, f"mandate.io/{name}=true")

    def label() -> Any:
        return env.get(resource, name)["metadata"].get("labels", {}).get(f"mandate.io/{name}")
    env.eventually("an annotated object gets its name as a label", lambda: (label() == name, label()))
    account = f"system:serviceaccount:{NAMESPACE}:{BASE}-{name}"

    def writers() -> tuple[Any, Any]:
        with open(env.audit_log, encoding="utf-8") as f:
            events = [json.loads(line) for line in f if line.endswith("\n")]
        users = {e["user"]["username"] for e in events if e["verb"] == "patch" and e.get("objectRef", {}).get("name") == name
                 and e.get("userAgent", "").startswith("mandate-manager/")}
        return users == {account}, users
    env.eventually(f"as {account} alone", writers)
    env.kubectl("annotate", resource, name, f"mandate.io/{name}-")
    env.eventually("without the annotation it loses the label", lambda: (label() is None, label()))


class Component(unittest.TestCase):
    """The cases build on each other, in one clone."""

    folder: ClassVar[str]
    tree: ClassVar[Tree]

    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = paths.new_folder("component")
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.tree = Tree(cls.folder)
        cls.addClassCleanup(cls.tree.close)

    def setUp(self) -> None:
        print(runner.name_of(self), flush=True)

    def expect(self, what: str, holds: Any, seen: Any) -> None:
        self.assertTrue(holds, f"expected {what}; saw {seen}")
        print(f"  {what}", flush=True)

    def test_bad_names_are_rejected(self) -> None:
        tree = self.tree
        for arguments, why in REJECTED:
            tree.rejected(arguments, why)
        done = tree.run("hack/component", "backup", check=False)
        self.expect(f"{len(REJECTED)} rejections, each in one line; a missing KIND also prints the usage",
                    done.returncode == 2 and done.stderr.startswith("hack/component: KIND missing\n") and "usage:" in done.stderr,
                    done.stderr)

    def test_a_failure_leaves_nothing_behind(self) -> None:
        tree = self.tree
        with tree.edited("cmd/mandate-manager/components.cc", "  return {\n", "  return std::vector<ComponentSpec>{\n"):
            tree.rejected(["backup", "Backup"], "components.cc: AllComponents() is not a list")
        with tree.edited("cmd/mandate-manager/BUILD.bazel", '    name = "base_mandate"', '    name = "base"'):
            tree.rejected(["backup", "Backup"], "BUILD.bazel: base_mandate has no list srcs")
        with tree.edited("charts/mandate/templates/generated/base.yaml", "rules:", "rules: # mine"):
            tree.rejected(["backup", "Backup"], "hack/manifests --check fails before anything is written")
        print("  an unclean tree is rejected", flush=True)
        for marker, mistake in (("verbs=list;watch;create;patch", "verbz=list"), ("+mandate:component:", "+mandate:componet:")):
            with tree.edited("hack/component_templates/reconciler.h.in", marker, mistake):
                tree.rejected(["backup", "Backup"], "hack/manifests fails with the new component; nothing is left of it")
        print("  a marker that rbacgen rejects leaves nothing behind", flush=True)

    def test_components_are_written(self) -> None:
        tree = self.tree
        for name, kind, group, _ in COMPONENTS:
            done = tree.run("hack/component", *OPTIONS[name], *([name, kind] if group == "mandate.io" else [name, kind, group]))
            self.expect(f"{name}: written, and the next steps are printed", f"mandate-manager-{name}" in done.stdout
                        and "kubectl apply -f controllers/" in done.stdout, done.stdout)
            tree.rejected([name, kind, group], f"there is a component {name}")
        tree.rejected(["other", "DiskPolicy", "disks.example.com"], "there is a kind diskpolicies.disks.example.com")
        name, kind, _ = EXISTING
        done = tree.run("hack/component", "--resource=false", name, kind)
        self.expect(f"{name}: written, without a kind of its own", f"mandate.io/{name}=true" in done.stdout
                    and not any("/api/" in path for path in tree.state() if "config_names" in path), done.stdout)
        tree.run("hack/manifests", "--check")
        sources = [path[3:] for path in tree.state() if path.endswith((".h", ".cc"))]
        tree.run("clang-format", "--dry-run", "-Werror", *sources)
        print(f"  make manifests and clang-format have nothing to change ({len(sources)} sources)", flush=True)

    def test_components_build_and_pass_their_tests(self) -> None:
        tree = self.tree
        targets = [f"//controllers/{name.replace('-', '_')}/..." for name, *_ in COMPONENTS]
        more = ["//webhooks/disk_check:webhook_test", "//webhooks/disk_check:converter_test", "//webhooks/guest_list:webhook_test",
                "//webhooks/guest_list:converter_test", "//controllers/guest_list:demands_test", "//controllers/config_names:reconciler_test"]
        done = tree.run("hack/bazel", "test", "--noshow_progress", "--test_output=errors", *targets, "//controllers/config_names/...", "//webhooks/disk_check/...",
                        "//webhooks/guest_list/...", "//controllers/certificates/...", "//cmd/mandate-manager/...")
        passed = done.stdout.count(" PASSED")
        self.expect(f"3 tests of each component pass, and those of the webhooks, the conversions and the demands; {passed} in all",
                    passed >= 3 * len(COMPONENTS) + len(more) and all(test in done.stdout for test in more), done.stdout[-3000:])
        done = tree.run("hack/bazel", "query", "visible(//controllers/disk_check:plan, //controllers/backup:all)")
        self.expect("a component may depend on the kind of another component, and on no other target of it",
                    done.stdout.split() == ["//controllers/backup:kind"], done.stdout)
        # The log also exists for a cached test. These are the rows of rbacgen mutate:
        logs = tree.run("hack/bazel", "info", "bazel-testlogs").stdout.strip()
        for name, rules in (*((name, 4) for name, *_ in COMPONENTS), (EXISTING[0], 1)):
            log = tree.read(os.path.join(logs, "controllers", name.replace("-", "_"), "mutate_test", "test.log"))
            proven = [row for row in log.splitlines() if row.startswith(name + " ") and row.endswith("  a test fails")]
            self.expect(f"{name}: each rule to write is proven by a test; {rules}", len(proven) == rules, log)

    def test_components_run_under_their_own_identities(self) -> None:
        tree = self.tree
        # The test builds and installs the clone.
        report = Report()
        env = World(os.path.join(os.path.dirname(tree.root), "run"), report, root=tree.root)
        failed = True
        try:
            env.start()
            for name, kind, group, plural in COMPONENTS:
                runs(tree, env, report, name, kind, f"{plural}.{group}")
            labels(env, report)
            report.step("rbacgen trace --check, rbacgen audit")
            tree.run(env.rbacgen, "trace", "--check", env.audit_log)
            done = tree.run(env.rbacgen, "audit", "--json", f"--compiled={env.manager_program}", "--granted=cluster",
                            f"--kubeconfig={env.cluster.kubeconfig}", "--kubectl", env.cluster.kubectl_program,
                            "--sources=controllers", "--sources=manager/telemetry", env.audit_log, check=False)
            names = {name for name, *_ in COMPONENTS}
            of_all = names | {EXISTING[0]}
            findings = [f for f in json.loads(done.stdout)["findings"] if f["component"] in of_all]
            self.expect("no permission of theirs is unused, and no request undeclared or denied", findings == [], findings)
            for name in sorted(names):
                a_fence_stops(env, report, name)
            for name, kind, group, plural in COMPONENTS:
                if "--demands" in OPTIONS[name]:
                    a_grant_is_awaited(tree, env, report, name, kind, f"{plural}.{group}")
            a_webhook_denies(tree, env, report)
            for name, kind, group, plural in COMPONENTS:
                if "--conversion" in OPTIONS[name]:
                    versions_are_converted(tree, env, report, name, kind, f"{plural}.{group}")
            failed = False
        except StepFailed:
            env.show_logs()
            raise
        finally:
            env.stop(keep_logs=failed)


def main(argv: Sequence[str]) -> int:
    return runner.main("hack/component_test", __doc__, [Component], argv)
