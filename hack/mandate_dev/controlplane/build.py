"""Builds etcd, kube-apiserver, kube-controller-manager and kubectl at the versions pinned in hack/controlplane.

usage: hack/controlplane/build [--where]

Prints the folder that holds the four programs. The folder's name depends on its inputs, and it is outside the tree,
under ${MANDATE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/mandate}/controlplane; if it exists already, nothing is built and
only its path is printed.

If KUBEBUILDER_ASSETS is set, etcd, kube-apiserver and kubectl come from that folder, and the printed folder has links.
kube-controller-manager, which envtest does not have, is used from there if it exists, and built otherwise.

  --where   print the folder of the built programs without building; exit 1 when they have not been built
"""
import fcntl
import hashlib
import json
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from typing import Any

from mandate_dev import go, processes
from mandate_dev.paths import TOOLS, cache

HERE = os.path.join(TOOLS, "controlplane")
KUBERNETES, ETCD = "k8s.io/kubernetes", "go.etcd.io/etcd/server/v3"
PROGRAMS = [  # file name, folder of the go.mod, package
    ("etcd", "etcd", ETCD),
    ("kube-apiserver", "kubernetes", KUBERNETES + "/cmd/kube-apiserver"),
    ("kube-controller-manager", "kubernetes", KUBERNETES + "/cmd/kube-controller-manager"),
    ("kubectl", "kubernetes", KUBERNETES + "/cmd/kubectl"),
]
ENVTEST = ("etcd", "kube-apiserver", "kubectl")  # the programs that KUBEBUILDER_ASSETS must have
RECIPE = "1"  # part of the key: increase it when the way of building changes
# The caller's Go settings must not change the result; cgo off gives static programs and needs no C compiler.
GO_ENV = {"GO111MODULE": "on", "GOFLAGS": "", "GOWORK": "off", "GOTOOLCHAIN": "local", "CGO_ENABLED": "0"}


class Failure(Exception):
    """An error with a message for the user who started the build."""


def say(text: str, end: str = "\n") -> None:
    print(text, end=end, file=sys.stderr, flush=True)


def duration(seconds: float) -> str:
    return f"{seconds:.0f}s" if seconds < 60 else f"{int(seconds) // 60}m{int(seconds) % 60:02d}s"


def pinned_version(folder: str, module: str) -> str:
    with open(os.path.join(HERE, folder, "go.mod"), encoding="utf-8") as f:
        found = re.search(rf"^(?:require)?\s*{re.escape(module)} (v\S+)", f.read(), re.M)
    if not found:
        raise Failure(f"hack/controlplane/{folder}/go.mod does not name a version of {module}")
    return found[1]


def key() -> str:
    digest = hashlib.sha256(RECIPE.encode())
    for folder in ("kubernetes", "etcd"):
        for name in ("go.mod", "go.sum"):
            with open(os.path.join(HERE, folder, name), "rb") as f:
                digest.update(hashlib.sha256(f.read()).digest())
    return "-".join(["kubernetes", pinned_version("kubernetes", KUBERNETES), "etcd", pinned_version("etcd", ETCD),
                     platform.machine(), digest.hexdigest()[:12]])


def run(argv: Sequence[str], log: str, **options: Any) -> None:
    """Runs argv with its output in `log`; raises Failure with the log's last lines."""
    with open(log, "wb") as out:
        child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
                                 preexec_fn=processes.die_with_parent(signal.SIGTERM), **options)
        try:
            code = child.wait()
        except BaseException:
            child.terminate()
            child.wait()
            raise
    if code:
        with open(log, encoding="utf-8", errors="replace") as f:
            tail = "".join("    " + line for line in f.readlines()[-25:])
        raise Failure(f"`{' '.join(argv[:3])} …` failed with exit code {code}:\n{tail.rstrip()}")


def link_flags(program: str, env: dict[str, str]) -> str:
    """Returns the linker's flags that set the version: kubectl, helm and client libraries reject a server without one.
    The module proxy has no commit, so it stays `unknown`. The date is the version's, so that builds are
    reproducible."""
    version = pinned_version("kubernetes", KUBERNETES)
    out = subprocess.run([program, "list", "-mod=readonly", "-m", "-json", KUBERNETES], cwd=os.path.join(HERE, "kubernetes"),
                         env=env, capture_output=True, text=True)
    if out.returncode:
        raise Failure(f"go list {KUBERNETES} failed:\n{out.stderr.rstrip()}")
    major, minor = version.lstrip("v").split(".")[:2]
    values = {"gitVersion": version, "gitMajor": major, "gitMinor": minor, "gitCommit": "unknown",
              "gitTreeState": "clean", "buildDate": json.loads(out.stdout).get("Time", "1970-01-01T00:00:00Z")}
    return " ".join(["-s -w"] + [f"-X {package}.{name}={value}" for name, value in values.items()
                                 for package in ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version")])


def build_all(target: str) -> None:
    # Next to the target: a rename is atomic only within one file system.
    parent, prefix = os.path.dirname(target), f".build-{os.path.basename(target)}-"
    for name in os.listdir(parent):
        if name.startswith(prefix):  # of a build that was killed: the lock says that none is running
            shutil.rmtree(os.path.join(parent, name), ignore_errors=True)
    scratch = tempfile.mkdtemp(prefix=prefix, dir=parent)
    try:
        program = go.find()
        env = {**os.environ, **GO_ENV}
        began = time.monotonic()
        say(f"building the local control plane with {program}; the first build takes minutes, and is kept")
        flags = {"kubernetes": link_flags(program, env), "etcd": "-s -w"}
        for i, (name, folder, package) in enumerate(PROGRAMS, 1):
            start = time.monotonic()
            say(f"[{i}/{len(PROGRAMS)}] building {name} … ", end="")
            try:
                run([program, "build", "-mod=readonly", "-trimpath", "-buildvcs=false", "-ldflags", flags[folder],
                     "-o", os.path.join(scratch, "bin", name), package],
                    os.path.join(scratch, name + ".log"), cwd=os.path.join(HERE, folder), env=env)
            except BaseException:
                say("failed")
                raise
            say(duration(time.monotonic() - start))
        os.rename(scratch, target)
        say(f"built in {duration(time.monotonic() - began)}: {target}/bin")
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def build() -> str:
    target = cache("controlplane", key())
    if os.path.isdir(target):
        return os.path.join(target, "bin")
    os.makedirs(os.path.dirname(target), exist_ok=True)
    with open(target + ".lock", "w", encoding="ascii") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("another build of the local control plane is under way: waiting for it")
            fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.isdir(target):
            build_all(target)
    return os.path.join(target, "bin")


def assets() -> dict[str, str]:
    """Returns {name: path} of the programs in KUBEBUILDER_ASSETS; empty if it is not set."""
    folder = os.environ.get("KUBEBUILDER_ASSETS")
    if not folder:
        return {}
    paths = {name: os.path.join(os.path.abspath(folder), name) for name, *_ in PROGRAMS}
    found = {name: path for name, path in paths.items() if os.path.isfile(path) and os.access(path, os.X_OK)}
    missing = [name for name in ENVTEST if name not in found]
    if missing:
        raise Failure(f"{folder} (KUBEBUILDER_ASSETS) has no {', '.join(missing)}: set it to the folder that `setup-envtest "
                      "use -p path` prints, or unset it to use the programs that the project builds")
    return found


def linked(paths: dict[str, str]) -> str:
    """Returns a folder with a link to each program."""
    digest = hashlib.sha256(json.dumps(paths, sort_keys=True).encode()).hexdigest()[:12]
    folder = cache("controlplane", f"assets-{digest}", "bin")
    os.makedirs(folder, exist_ok=True)
    for name, path in paths.items():
        try:
            os.symlink(path, os.path.join(folder, name))
        except FileExistsError:  # from an earlier call, or another process
            pass
    return folder


def programs() -> str:
    """Returns the folder with all programs, from KUBEBUILDER_ASSETS or built."""
    found = assets()
    if not found:
        return build()
    missing = [name for name, *_ in PROGRAMS if name not in found]
    if missing:
        target = cache("controlplane", key(), "bin")
        say(f"{os.environ['KUBEBUILDER_ASSETS']} (KUBEBUILDER_ASSETS) has no {', '.join(missing)} (nor has envtest): the one "
            f"of Kubernetes {pinned_version('kubernetes', KUBERNETES)} in {target} is used"
            + ("" if os.path.isdir(target) else ", and built first") + "; to use another, link it into KUBEBUILDER_ASSETS")
        own = build()
        found.update({name: os.path.join(own, name) for name in missing})
    return linked(found)


def main(argv: Sequence[str]) -> int:
    if argv in (["-h"], ["--help"]):
        print(__doc__.strip())
        return 0
    if argv not in ([], ["--where"]):
        say(f"build: unknown argument {argv[0]!r}; see {sys.argv[0]} --help")
        return 2
    processes.interrupt_on_sigterm()  # so that a stopped build cleans up too
    try:
        if argv:
            folder = cache("controlplane", key(), "bin")
            print(folder)
            return 0 if os.path.isdir(folder) else 1
        print(programs())
        return 0
    except KeyboardInterrupt:
        say("build: interrupted")
        return 130
    except (Failure, go.Failure, OSError) as failure:
        say(f"build: {failure}")
        return 1
