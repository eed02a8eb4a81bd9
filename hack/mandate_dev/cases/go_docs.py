"""docs/rbacgen-for-go.md followed to the letter: each command of it, on the project and a real control plane.

usage: rbacgen/go_docs_test [RBACGEN]

RBACGEN is built if it is not named. What the page shows below a command has to be what it prints; "…" stands for
anything. The last line is `N passed, N failed`; the exit code is 0 only when nothing failed.
"""
import os
import re
import subprocess
import sys
import tempfile

from mandate_dev.paths import ROOT

CLUSTER = os.path.join(ROOT, "hack", "cluster")
PAGE = os.path.join(ROOT, "docs", "rbacgen-for-go.md")
END = "end of the output, exit code"
# What a reader does between the page's commands, before the first that holds the text.
BETWEEN = {
    "git worktree": "git init -q -b main . && git add -A && git -c user.name=a -c user.email=a@b.c commit -qm all && "
                    "git checkout -qb change && sed -i '/groups=core,resources=nodes,verbs=/s/$/;patch/' "
                    "pkg/controllers/pod_controller.go",
    "rbacgen blast-radius": "git checkout -q .",
}


def built():
    """The path of rbacgen, built from this tree."""
    bazel = os.path.join(ROOT, "hack", "bazel")
    subprocess.run([bazel, "build", "//rbacgen"], check=True, timeout=7200)
    folder = subprocess.run([bazel, "info", "bazel-bin"], capture_output=True, text=True, check=True).stdout.strip()
    return os.path.join(folder, "rbacgen", "rbacgen")


def steps(page):
    """[("command", text, what it shows) or ("marker", a rule's line, the line above it)], in the page's order."""
    found = []
    for language, block in re.findall(r"^```(console|go)\n(.*?)^```$", page, re.M | re.S):
        if language == "go":
            lines = block.splitlines()
            found += [("marker", line, above) for above, line in zip(lines, lines[1:])
                      if re.match(r"// ?\+kubebuilder:rbac:", line)]
            continue
        for command in re.split(r"^\$ ", block, flags=re.M)[1:]:
            lines = command.splitlines()
            more = next((i for i, line in enumerate(lines[1:], 1) if not line.startswith(">")), len(lines))
            text = "\n".join([lines[0], *(line[1:] for line in lines[1:more])])
            found.append(("command", text, "\n".join(lines[more:])))
    return found


class Shell:
    """One bash, as a reader has it: folders and variables stay."""

    def __init__(self, folder, path):
        env = {**os.environ, "HOME": folder, "PATH": f"{path}:{os.environ['PATH']}"}
        env.update({name: subprocess.run(["go", "env", name], capture_output=True, text=True, check=True).stdout.strip()
                    for name in ("GOPATH", "GOCACHE", "GOMODCACHE")})
        env.pop("KUBECONFIG", None)
        self._bash = subprocess.Popen(["bash"], cwd=folder, env=env, text=True, stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def run(self, command):
        self._bash.stdin.write(f"{command}\necho; echo '{END}' $?\n")
        self._bash.stdin.flush()
        lines = []
        for line in self._bash.stdout:
            if line.startswith(END):
                break
            lines.append(line.rstrip("\n"))
        return "\n".join(lines).strip("\n")

    def close(self):
        self._bash.stdin.close()
        self._bash.wait(timeout=300)


def replace_marker(tree, old, new):
    """The Go files in which a line that ends with `old` became `new`."""
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


def is_shown(output, shown):
    pattern = ".*".join(re.escape(part) for part in shown.strip("\n").split("…"))
    return re.fullmatch(pattern, output, re.S) is not None


def main(argv):
    if len(argv) > 1 or argv[:1] == ["--help"]:
        sys.exit(__doc__)
    rbacgen = os.path.abspath(argv[0]) if argv else built()
    with open(PAGE, encoding="utf-8") as f:
        todo = steps(f.read())
    results, between = [], dict(BETWEEN)

    def check(name, holds, seen=""):
        print("ok  " if holds else "FAIL", name.replace("\n", " ↵ "), "" if holds else f"\n{seen}", flush=True)
        results.append(bool(holds))

    with tempfile.TemporaryDirectory(prefix="mandate-go-docs-") as folder:
        cluster, programs = os.path.join(folder, "cluster"), os.path.join(folder, "bin")
        os.mkdir(programs)
        os.symlink(rbacgen, os.path.join(programs, "rbacgen"))
        subprocess.run([CLUSTER, "up", "--dir", cluster, "--watch-pid", str(os.getpid())], check=True, timeout=7200)
        shell = Shell(folder, f"{programs}:{cluster}/bin")
        try:
            for kind, text, shown in todo:
                if kind == "marker":
                    rule = text.lstrip("/ ")
                    changed = replace_marker(os.path.join(folder, "jobset"), f"{rule}\n", f"{shown}\n{text}\n")
                    check(f"the project has the marker {rule}", len(changed) == 1, changed)
                elif text.startswith("make release"):
                    continue  # hack/release tries it
                else:
                    for words in [words for words in between if words in text]:
                        shell.run(between.pop(words))
                    said = shell.run(text)
                    check(text, is_shown(said, shown), f"--- shown\n{shown}\n--- printed\n{said}")
            check("the page was followed", len(results) > 15 and not between, (len(results), between))
        finally:
            shell.close()
            subprocess.run([CLUSTER, "down", "--dir", cluster], check=False)
    print(f"\n{sum(results)} passed, {len(results) - sum(results)} failed")
    return int(not all(results))
