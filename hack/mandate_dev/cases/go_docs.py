"""Follows docs/rbacgen-for-go.md exactly: runs each command of the page on the project and a real control plane.

usage: rbacgen/go_docs_test [--rbacgen PROGRAM] [-k PATTERN]… [--list] [--junit FILE]

PROGRAM is built if it is not given. A command has to print what the page shows below it; "…" stands for anything. Each
step counts. The last line is `N passed, N failed`; the exit code is 0 only when nothing failed.
"""
import os
import re
import subprocess
from collections.abc import Sequence
from typing import Any, ClassVar

from mandate_dev import bazel, docs, go, runner
from mandate_dev.cases import ClusterCase
from mandate_dev.paths import ROOT

PAGE = os.path.join(ROOT, "docs", "rbacgen-for-go.md")
# The actions of a reader between the page's commands, by a text: each runs before the first command that contains it.
BETWEEN = {
    "git worktree": "git init -q -b main . && git add -A && git -c user.name=a -c user.email=a@b.c commit -qm all && "
                    "git checkout -qb change && sed -i '/groups=core,resources=nodes,verbs=/s/$/;patch/' "
                    "pkg/controllers/pod_controller.go",
    "rbacgen blast-radius": "git checkout -q .",
}


def steps(page: str) -> list[tuple[str, str, str]]:
    """Returns [("command", text, shown output) or ("marker", a rule's line, the line above it)], in the page's
    order."""
    found: list[tuple[str, str, str]] = []
    for language, block in re.findall(r"^```(console|go)\n(.*?)^```$", page, re.M | re.S):
        if language == "go":
            lines = block.splitlines()
            found += [("marker", line, above) for above, line in zip(lines, lines[1:])
                      if re.match(r"// ?\+kubebuilder:rbac:", line)]
            continue
        found += [("command", command.text, command.shown) for command in docs.console_commands(block)]
    return found


def replace_marker(tree: Any, old: str, new: str) -> Any:
    """Replaces lines that end with `old` by `new`; returns the changed Go files."""
    changed = []
    for folder, _, names in os.walk(tree):
        for path in [os.path.join(folder, name) for name in names if name.endswith(".go")]:
            with open(path, encoding="utf-8") as f:
                lines = f.readlines()
            after = [new if line.endswith(old) else line for line in lines]
            if after == lines:
                continue
            with open(path, "w", encoding="utf-8") as f:
                f.writelines(after)
            changed.append(path)
    return changed


class GoDocs(ClusterCase):
    """One case, because the steps build on each other as on the page."""

    program: ClassVar[str | None] = None

    def check(self, name: str, holds: bool, seen: str) -> None:
        with self.subTest(name.replace("\n", " ↵ ")):
            self.assertTrue(holds, f"\n{seen}")

    def test_the_page(self) -> None:
        with open(PAGE, encoding="utf-8") as f:
            todo = steps(f.read())
        between, done = dict(BETWEEN), 0
        programs = os.path.join(self.folder, "bin")
        os.mkdir(programs)
        os.symlink(self.program or bazel.program("//rbacgen"), os.path.join(programs, "rbacgen"))
        env = go.environment()
        env.update(HOME=self.folder, PATH=f"{programs}:{self.cluster.bin}:{env['PATH']}")
        env.update({name: subprocess.run([go.find(), "env", name], capture_output=True, text=True, check=True).stdout.strip()
                    for name in ("GOPATH", "GOCACHE", "GOMODCACHE")})
        env.pop("KUBECONFIG", None)
        shell = docs.Shell(self.folder, env)
        self.addCleanup(shell.close)
        for kind, text, shown in todo:
            if kind == "marker":
                rule = text.lstrip("/ ")
                changed = replace_marker(os.path.join(self.folder, "jobset"), f"{rule}\n", f"{shown}\n{text}\n")
                self.check(f"the project has the marker {rule}", len(changed) == 1, str(changed))
            elif text.startswith("make release"):
                continue  # hack/release tests it
            else:
                for words in [words for words in between if words in text]:
                    shell.run(between.pop(words))
                _, said = shell.run(text)
                self.check(text, docs.is_shown(said, shown), f"--- shown\n{shown}\n--- printed\n{said}")
            done += 1
        self.check("the page was followed", done > 15 and not between, f"{done} steps, left {between}")


def main(argv: Sequence[str]) -> int:
    parser = runner.Parser("rbacgen/go_docs_test", __doc__)
    parser.add_argument("--rbacgen")
    options = parser.parse_args(argv)
    GoDocs.program = os.path.abspath(options.rbacgen) if options.rbacgen else None
    return runner.run("rbacgen/go_docs_test", [GoDocs], options)
