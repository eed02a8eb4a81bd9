"""Runs the commands of the documentation, and compares their output with the pages (hack/mandate_dev/docs.py has the
rules).

usage: hack/docs_test [-k PATTERN]… [--list] [--junit FILE]

Each page is a case, each of its blocks a subtest. A page's commands run in one shell, which starts in the tree. It has
rbacgen on its PATH, $TREE and $FOLDER, an empty folder. Some pages have a control plane, kubectl and helm.
The pages about a running manager have one, with its $AUDIT_LOG, $MANAGER (its program) and $HEALTH_PORT.
"""
import glob
import os
import re
import shutil
import subprocess
import unittest
from collections.abc import Callable, Sequence
from typing import ClassVar

from mandate_dev import bazel, docs, paths, runner
from mandate_dev.cases import ClusterFixture, WorldFixture
from mandate_dev.paths import TOOLS, ROOT

ELSEWHERE = {"docs/rbacgen-for-go.md"}  # rbacgen/go_docs_test
ON_A_CLUSTER = {"docs/chart.md", "docs/install.md", "docs/rbacgen.md"}
IN_A_WORLD = {"docs/least-privilege.md"}


def pages() -> list[str]:
    files = ["README.md", "CONTRIBUTING.md", "SECURITY.md", *sorted(glob.glob("docs/*.md", root_dir=ROOT))]
    return [file for file in files if file not in ELSEWHERE]


class Docs(unittest.TestCase):
    not_run: ClassVar[list[str]] = []

    @classmethod
    def tearDownClass(cls) -> None:
        print(f"{len(cls.not_run)} blocks not run", *cls.not_run, sep="\n  ", flush=True)

    def environment(self, page: str, folder: str) -> dict[str, str]:
        programs = os.path.join(folder, "bin")
        os.mkdir(programs)
        os.symlink(bazel.program("//rbacgen"), os.path.join(programs, "rbacgen"))
        env = {**os.environ, "TREE": ROOT, "FOLDER": os.path.join(folder, "work")}
        os.mkdir(env["FOLDER"])
        env.pop("KUBECONFIG", None)
        path = programs
        if page in ON_A_CLUSTER:
            cluster = runner.shared(ClusterFixture).cluster
            helm = subprocess.run([os.path.join(TOOLS, "helm", "build")], text=True, check=True, stdout=subprocess.PIPE).stdout
            os.symlink(helm.strip(), os.path.join(programs, "helm"))
            path, env["KUBECONFIG"] = f"{programs}:{cluster.bin}", cluster.kubeconfig
        elif page in IN_A_WORLD:
            world = runner.shared(WorldFixture).world
            path, env["KUBECONFIG"] = f"{programs}:{world.cluster.bin}", world.cluster.kubeconfig
            env |= {"AUDIT_LOG": world.audit_log, "MANAGER": world.manager_program, "HEALTH_PORT": str(world.health_port)}
        return {**env, "PATH": f"{path}:{env['PATH']}"}

    def follow(self, page: str) -> None:
        with open(os.path.join(ROOT, page), encoding="utf-8") as f:
            blocks = list(docs.blocks(f.read()))
        self.not_run.extend(f"{page}:{block.line}: {block.not_run}" for block in blocks if block.not_run)
        blocks = [block for block in blocks if not block.not_run]
        if not blocks:
            return
        folder = paths.new_folder("docs-test")
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        shell = docs.Shell(ROOT, self.environment(page, folder))
        self.addCleanup(shell.close)
        for block in blocks:
            with self.subTest(f"{page}:{block.line} {block.commands[0].text.splitlines()[0] if block.commands else ''}"):
                if wrong := [block.mistake] if block.mistake else list(docs.mistakes(block, shell)):
                    self.fail("\n".join(wrong))


def case(page: str) -> Callable[[Docs], None]:
    def test(self: Docs) -> None:
        self.follow(page)
    return test


for _page in pages():
    setattr(Docs, "test_" + re.sub(r"\W", "_", _page.removesuffix(".md")), case(_page))


def main(argv: Sequence[str]) -> int:
    return runner.main("hack/docs_test", __doc__, [Docs], argv)
