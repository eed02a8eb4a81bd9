"""Compares rbacgen webhook and rbac with controller-gen itself, on the same sources and on public projects.

usage: rbacgen/webhook/controller_gen_test [--rbacgen PROGRAM] [NAME…] [-k PATTERN]… [--list] [--junit FILE]

PROGRAM is built if it is not given. Builds controller-gen v0.23.0 from its Go module (into the cache folder, once), runs
it on testdata/webhooks.go, and compares with the committed expectation and with rbacgen's output, byte for byte. Then
both run on the tree of hack/bench/marker_tree. Then rbacgen runs on the sources of some public projects, fetched as Go
modules, and has to print the roles and webhook configurations that controller-gen wrote into them; and the Go code of
docs/rbacgen-for-go has to compile. The last line is `N passed, N failed`; the exit code is 0 only when nothing failed.
"""
import json
import os
import shutil
import subprocess
import tempfile
import unittest
from collections.abc import Sequence
from typing import ClassVar

from mandate_dev import bazel, go, runner
from mandate_dev.paths import TOOLS, ROOT, cache

HERE = os.path.join(ROOT, "rbacgen", "emit", "webhook")
VERSION = "v0.23.0"
# Module: the paths that the project passes to controller-gen; the file of the role, and of the webhook configurations
# if it has them.
PROJECTS = {
    "sigs.k8s.io/jobset@v0.8.1": ("./...", "config/components/rbac/role.yaml",
                                  "config/components/webhook/manifests.yaml"),
    "sigs.k8s.io/lws@v0.6.1": ("./...", "config/rbac/role.yaml", "config/webhook/manifests.yaml"),
    "github.com/grafana/grafana-operator/v5@v5.18.0": ("./...", "config/rbac/role.yaml", None),
}


def controller_gen() -> str:
    """Returns the path of the program, which is built if it is missing."""
    folder = cache(f"controller-gen-{VERSION}")
    path = os.path.join(folder, "controller-gen")
    if not os.path.exists(path):
        with tempfile.TemporaryDirectory() as empty:
            subprocess.run([go.find(), "install", f"sigs.k8s.io/controller-tools/cmd/controller-gen@{VERSION}"], cwd=empty,
                           env={**os.environ, "GOBIN": folder, "GOFLAGS": "-mod=mod"}, check=True, timeout=3600)
    return path


def module_folder(module: str) -> str:
    """Returns the folder of a module's files, which the Go client downloads if they are missing, without
    dependencies."""
    with tempfile.TemporaryDirectory() as empty:
        done = subprocess.run([go.find(), "mod", "download", "-json", module], cwd=empty, capture_output=True, text=True,
                              check=True, timeout=1200)
    return str(json.loads(done.stdout)["Dir"])


def output(*command: str, cwd: str) -> str:
    return subprocess.run(command, cwd=cwd, env=go.environment(), capture_output=True, text=True, check=True,
                          timeout=600).stdout


def read(*path: str) -> str:
    with open(os.path.join(*path), encoding="utf-8") as f:
        return f.read()


class ControllerGen(unittest.TestCase):
    program: ClassVar[str | None] = None
    rbacgen: ClassVar[str]

    @classmethod
    def setUpClass(cls) -> None:
        cls.rbacgen = cls.program or bazel.program("//rbacgen")

    def tree(self) -> str:
        """A temporary folder."""
        folder = tempfile.mkdtemp(prefix="mandate-controller-gen-")
        self.addCleanup(shutil.rmtree, folder)
        return folder

    def test_webhooks(self) -> None:
        tree, expected = self.tree(), read(HERE, "testdata", "manifests.yaml")
        shutil.copy(os.path.join(HERE, "testdata", "webhooks.go"), tree)
        with open(os.path.join(tree, "go.mod"), "w", encoding="utf-8") as f:
            f.write("module example.com/webhooks\n\ngo 1.21\n")
        with self.subTest("the expectation is controller-gen's output"):
            self.assertEqual(expected, output(controller_gen(), "webhook", "paths=./...", "output:stdout", cwd=tree))
        with self.subTest("webhooks are the same"):
            self.assertEqual(expected, output(self.rbacgen, "webhook", "./...", cwd=tree))

    def test_roles(self) -> None:
        tree = self.tree()
        # Uses few markers, because controller-gen keeps some of many markers at random (docs/rbacgen.md).
        subprocess.run([os.path.join(TOOLS, "bench", "marker_tree"), tree, "--files", "60", "--markers", "1"], check=True)
        self.assertEqual(output(controller_gen(), "rbac:roleName=x", "paths=./...", "output:stdout", cwd=tree),
                         output(self.rbacgen, "rbac", "--role-name=x", "./...", cwd=tree))

    def test_public_projects(self) -> None:
        for module, (paths, role, webhooks) in PROJECTS.items():
            folder = module_folder(module)
            with self.subTest(f"the role of {module}"):
                self.assertEqual(read(folder, role), output(self.rbacgen, "rbac", "--role-name=manager-role", paths, cwd=folder))
            if webhooks:
                with self.subTest(f"the webhooks of {module}"):
                    self.assertEqual(read(folder, webhooks), output(self.rbacgen, "webhook", paths, cwd=folder))

    def test_the_go_code_of_the_guide_compiles(self) -> None:
        guide = os.path.join(ROOT, "docs", "rbacgen-for-go")
        self.assertEqual(0, subprocess.run([go.find(), "vet", "./..."], cwd=guide, timeout=3600).returncode)


def main(argv: Sequence[str]) -> int:
    parser = runner.Parser("rbacgen/webhook/controller_gen_test", __doc__)
    parser.add_argument("--rbacgen")
    options = parser.parse_args(argv)
    ControllerGen.program = os.path.abspath(options.rbacgen) if options.rbacgen else None
    return runner.run("rbacgen/webhook/controller_gen_test", [ControllerGen], options)
