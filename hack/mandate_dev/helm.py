"""Builds helm at a version pinned in hack/helm, and prints its path.

usage: hack/helm/build [v3]     version 4 by default

Uses hack/go and the cache folder: a version that is in the cache is not built again.
"""
import fcntl
import hashlib
import os
import platform
import re
import shutil
import tempfile
from collections.abc import Sequence

from mandate_dev import go, processes
from mandate_dev.controlplane import build as controlplane
from mandate_dev.paths import TOOLS, cache

HERE = os.path.join(TOOLS, "helm")
# The folder of helm's go.mod, by major version.
FOLDERS = {"v4": HERE, "v3": os.path.join(HERE, "v3")}


def module(major: str) -> str:
    return f"helm.sh/helm/{major}"


def kubernetes(major: str) -> str:
    """Returns the linker flags of version 3, as in its Makefile: the Kubernetes version of its client-go. Version 4
    needs no flags."""
    if major != "v3":
        return ""
    with open(os.path.join(FOLDERS[major], "go.mod"), encoding="utf-8") as f:
        minor = re.findall(r"^\s*k8s\.io/client-go v0\.(\d+)\.", f.read(), re.M)[0]
    return "".join(f" -X {module(major)}/pkg/{package}.k8sVersion{name}={value}" for package in ("chartutil", "lint/rules")
                   for name, value in (("Major", 1), ("Minor", minor)))


def target(major: str) -> str:
    digest = hashlib.sha256()
    for name in ("go.mod", "go.sum"):
        with open(os.path.join(FOLDERS[major], name), "rb") as f:
            digest.update(hashlib.sha256(f.read()).digest())
    digest.update(kubernetes(major).encode())
    with open(os.path.join(FOLDERS[major], "go.mod"), encoding="utf-8") as f:
        version = re.findall(rf"^\s*{re.escape(module(major))} (v\S+)", f.read(), re.M)[0]
    name = "-".join(["helm", version, platform.machine(), digest.hexdigest()[:12]])
    return os.path.join(cache(), "helm", name)


def build(major: str, folder: str) -> None:
    parent = os.path.dirname(folder)
    scratch = tempfile.mkdtemp(prefix=".build-", dir=parent)
    try:
        controlplane.say("building helm; the first build takes minutes, and is kept")
        controlplane.run([go.find(), "build", "-mod=readonly", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w" + kubernetes(major),
                          "-o", os.path.join(scratch, "helm"), module(major) + "/cmd/helm"],
                         os.path.join(scratch, "helm.log"), cwd=FOLDERS[major], env={**os.environ, **controlplane.GO_ENV})
        os.rename(scratch, folder)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def main(argv: Sequence[str]) -> int:
    if argv not in ([], ["v3"]):
        print(__doc__.strip())
        return 0 if argv in (["-h"], ["--help"]) else 2
    major = "v3" if argv else "v4"
    processes.interrupt_on_sigterm()
    folder = target(major)
    os.makedirs(os.path.dirname(folder), exist_ok=True)
    try:
        with open(folder + ".lock", "w", encoding="ascii") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not os.path.isdir(folder):
                build(major, folder)
    except (controlplane.Failure, go.Failure, OSError) as failure:
        controlplane.say(f"hack/helm/build: {failure}")
        return 1
    print(os.path.join(folder, "helm"))
    return 0
