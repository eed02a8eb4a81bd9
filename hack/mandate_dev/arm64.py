"""Builds for arm64 on amd64, with Debian's cross compiler and the packages of arm64.

usage: hack/arm64 [TARGET]…    by default every program and library

The compiler is the package g++-aarch64-linux-gnu. The libraries come from this machine's sources of Debian packages, and are
unpacked in the cache. If PATH has qemu-aarch64-static (the package qemu-user-static), the manager and rbacgen are also run,
and print their version.
"""
import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence

from mandate_dev.paths import ROOT, cache

# Tests cannot run here.
TARGETS = 'kind("cc_(binary|library) rule", set(//cmd/... //controllers/... //manager/... //rbacgen/... //webhooks/...) except ' \
          'attr(testonly, 1, //...) except attr(tags, manual, //...))'
COMPILER = "aarch64-linux-gnu-g++"
EMULATOR = "qemu-aarch64-static"
FOLDER = cache("arm64")
PROGRAMS = {"//cmd/mandate-manager": "mandate-manager", "//rbacgen": "rbacgen"}
MACHINE_AARCH64 = 183  # EM_AARCH64

# A system of its own with this one's sources, so that this one keeps its architecture and its packages.
APT = """\
APT::Architecture "arm64";
APT::Architectures {{ "arm64"; }};
APT::Install-Recommends "false";
APT::Sandbox::User "root";
Acquire::Languages "none";
Dir::State "{folder}/state";
Dir::State::status "{folder}/state/status";
Dir::Cache "{folder}/cache";
Dir::Etc::parts "{folder}/etc";
Dir::Etc::preferencesparts "{folder}/etc";
"""


def libraries(setup: str) -> list[str]:
    """Returns the packages with headers and libraries among those that hack/setup (its text) installs."""
    found = re.search(r"^packages=\((.*?)^\)", setup, re.MULTILINE | re.DOTALL)
    assert found is not None, "hack/setup has no list of packages"
    # libFuzzer's is for clang on this machine. g++ has libstdc++ as a dependency; the cross compiler has its own.
    return sorted(p for p in found[1].split() if p.endswith("-dev") and not p.startswith("libclang")) + ["libstdc++-12-dev"]


def sysroot() -> str:
    """Returns the folder with the unpacked packages, downloaded if they are missing or are others now."""
    with open(os.path.join(ROOT, "hack/setup"), encoding="utf-8") as f:
        packages = libraries(f.read())
    key = hashlib.sha256("\n".join([APT, *packages]).encode()).hexdigest()[:16]
    root = os.path.join(FOLDER, f"sysroot-{key}")
    if os.path.isdir(root):
        return root
    print(f"==> Downloading {len(packages)} packages of arm64 and what they need", flush=True)
    apt = os.path.join(FOLDER, "apt")
    for part in ["state/lists/partial", "cache/archives/partial", "etc"]:
        os.makedirs(os.path.join(apt, part), exist_ok=True)
    for path, text in {"apt.conf": APT.format(folder=apt), "state/status": ""}.items():
        with open(os.path.join(apt, path), "w", encoding="utf-8") as f:
            f.write(text)
    env = {**os.environ, "APT_CONFIG": os.path.join(apt, "apt.conf"), "DEBIAN_FRONTEND": "noninteractive"}
    subprocess.run(["apt-get", "update", "-qq"], env=env, check=True)
    subprocess.run(["apt-get", "install", "-qq", "-y", "--download-only", *packages], env=env, check=True,
                   stdout=subprocess.DEVNULL)
    unpacked = root + ".new"
    shutil.rmtree(unpacked, ignore_errors=True)
    os.makedirs(unpacked)
    archives = os.path.join(apt, "cache/archives")
    for archive in sorted(os.listdir(archives)):
        if archive.endswith(".deb"):
            subprocess.run(["dpkg-deb", "-x", os.path.join(archives, archive), unpacked], check=True)
    os.rename(unpacked, root)
    return root


def machine(path: str) -> int:
    """Returns the machine of an ELF file, e_machine."""
    with open(path, "rb") as f:
        header = f.read(20)
    assert header[:4] == b"\x7fELF", f"{path} is not an ELF file"
    return int.from_bytes(header[18:20], "little")


def main(argv: Sequence[str]) -> int:
    if argv and argv[0] in ("-h", "--help"):
        print((__doc__ or "").strip())
        return 0
    if shutil.which(COMPILER) is None:
        print(f"hack/arm64: {COMPILER} is missing: apt-get install g++-aarch64-linux-gnu", file=sys.stderr)
        return 2
    root = sysroot()
    env = {**os.environ, "MANDATE_ARM64_SYSROOT": root,
           "BAZEL_OUTPUT_BASE": os.environ.get("BAZEL_OUTPUT_BASE") or os.path.join(FOLDER, "bazel")}
    targets = list(argv) or subprocess.run(["hack/bazel", "query", TARGETS], cwd=ROOT, env=env, check=True, text=True,
                                           stdout=subprocess.PIPE).stdout.split()
    if subprocess.run(["hack/bazel", "build", "--config=arm64", *targets], cwd=ROOT, env=env).returncode:
        return 1
    if argv:
        return 0
    folder = subprocess.run(["hack/bazel", "info", "--config=arm64", "bazel-bin"], cwd=ROOT, env=env, check=True, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.strip()
    for target, name in PROGRAMS.items():
        path = os.path.join(folder, target.removeprefix("//"), name)
        if machine(path) != MACHINE_AARCH64:
            print(f"hack/arm64: {target} was not built for arm64", file=sys.stderr)
            return 1
        if shutil.which(EMULATOR) is None:
            print(f"{name}: built; not run, because {EMULATOR} is missing (apt-get install qemu-user-static)")
            continue
        subprocess.run([EMULATOR, "-L", root, path, "--version"], check=True)
    return 0
