"""rbacgen webhook and rbac beside controller-gen itself, on the same sources, and on public projects.

usage: rbacgen/webhook/controller_gen_test [RBACGEN]

RBACGEN is built if it is not named. Builds controller-gen v0.23.0 from its Go module (into the cache folder, once), runs
it on testdata/webhooks.go, and compares with the committed expectation and with rbacgen's output, byte for byte. Then
both run on the tree of hack/bench/marker_tree. Then rbacgen runs on the sources of some public projects, fetched as Go
modules, and has to print the roles and webhook configurations that controller-gen wrote into them; and the Go code of
docs/rbacgen-for-go has to compile. The last line is `N passed, N failed`; the exit code is 0 only when nothing failed.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

from mandate_dev.paths import ROOT

HERE = os.path.join(ROOT, "rbacgen", "webhook")
VERSION = "v0.23.0"
# Module: the paths that the project gives controller-gen; where it keeps the role, and the webhook configurations if it
# has any.
PROJECTS = {
    "sigs.k8s.io/jobset@v0.8.1": ("./...", "config/components/rbac/role.yaml",
                                  "config/components/webhook/manifests.yaml"),
    "sigs.k8s.io/lws@v0.6.1": ("./...", "config/rbac/role.yaml", "config/webhook/manifests.yaml"),
    "github.com/grafana/grafana-operator/v5@v5.18.0": ("./...", "config/rbac/role.yaml", None),
}


def built():
    """The path of rbacgen, built from this tree."""
    bazel = os.path.join(ROOT, "hack", "bazel")
    subprocess.run([bazel, "build", "//rbacgen"], check=True, timeout=7200)
    folder = subprocess.run([bazel, "info", "bazel-bin"], capture_output=True, text=True, check=True).stdout.strip()
    return os.path.join(folder, "rbacgen", "rbacgen")


def controller_gen():
    """The path of the program, built if it is not there."""
    cache = os.environ.get("MANDATE_CACHE") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "mandate")
    folder = os.path.join(cache, f"controller-gen-{VERSION}")
    path = os.path.join(folder, "controller-gen")
    if not os.path.exists(path):
        with tempfile.TemporaryDirectory() as empty:
            subprocess.run(["go", "install", f"sigs.k8s.io/controller-tools/cmd/controller-gen@{VERSION}"], cwd=empty,
                           env={**os.environ, "GOBIN": folder, "GOFLAGS": "-mod=mod"}, check=True, timeout=3600)
    return path


def module_folder(module):
    """Where the Go client keeps a module's files, downloaded if need be. Its dependencies are not."""
    with tempfile.TemporaryDirectory() as empty:
        done = subprocess.run(["go", "mod", "download", "-json", module], cwd=empty, capture_output=True, text=True,
                              check=True, timeout=1200)
    return json.loads(done.stdout)["Dir"]


def output(*command, cwd):
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=True, timeout=600).stdout


def main(argv):
    if len(argv) > 1 or argv[:1] == ["--help"]:
        sys.exit(__doc__)
    rbacgen, theirs = os.path.abspath(argv[0]) if argv else built(), controller_gen()
    failed = []

    def check(name, holds):
        print("ok  " if holds else "FAIL", name, flush=True)
        failed.append(not holds)

    with tempfile.TemporaryDirectory() as tree:
        with open(os.path.join(HERE, "testdata", "manifests.yaml")) as f:
            expected = f.read()
        shutil.copy(os.path.join(HERE, "testdata", "webhooks.go"), tree)
        with open(os.path.join(tree, "go.mod"), "w") as f:
            f.write("module example.com/webhooks\n\ngo 1.21\n")
        check("the expectation is controller-gen's", expected == output(theirs, "webhook", "paths=./...",
                                                                        "output:stdout", cwd=tree))
        check("webhooks are the same", expected == output(rbacgen, "webhook", "./...", cwd=tree))
    with tempfile.TemporaryDirectory() as tree:
        # Few markers: of many, controller-gen keeps some at random (docs/rbacgen.md).
        subprocess.run([os.path.join(ROOT, "hack", "bench", "marker_tree"), tree, "--files", "60", "--markers", "1"],
                       check=True)
        check("roles are the same", output(theirs, "rbac:roleName=x", "paths=./...", "output:stdout", cwd=tree)
              == output(rbacgen, "rbac", "--role-name=x", "./...", cwd=tree))
    for module, (paths, role, webhooks) in PROJECTS.items():
        folder = module_folder(module)
        with open(os.path.join(folder, role)) as f:
            check(f"the role of {module}", f.read() == output(rbacgen, "rbac", "--role-name=manager-role", paths,
                                                              cwd=folder))
        if webhooks:
            with open(os.path.join(folder, webhooks)) as f:
                check(f"the webhooks of {module}", f.read() == output(rbacgen, "webhook", paths, cwd=folder))
    guide = os.path.join(ROOT, "docs", "rbacgen-for-go")
    check("the guide's Go code compiles",
          subprocess.run(["go", "vet", "./..."], cwd=guide, timeout=3600).returncode == 0)
    print(f"{len(failed) - sum(failed)} passed, {sum(failed)} failed")
    return int(any(failed))
