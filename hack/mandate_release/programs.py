"""The programs that are released, built by Bazel."""
import os
import re
import subprocess
import tempfile
from dataclasses import dataclass

from mandate_release import closure, tree

# Which Debian packages a program has code of by their headers alone, by the library's name in //third_party.
HEADER_ONLY = {"beast": "libboost1.81-dev", "cli11": "libcli11-dev"}
DEPENDENCIES = "third_party/bazel/dependencies.bzl"


@dataclass(frozen=True)
class Program:
    """A manager that Bazel has linked.

    path: the program. static: packages with code in it. modules: Go modules that some of its code is generated from.
    """
    path: str
    static: list[closure.Package]
    modules: dict[str, str]


def bazel(*arguments: str) -> str:
    done = subprocess.run([os.path.join(tree.ROOT, "hack", "bazel"), *arguments], check=True, text=True,
                          stdout=subprocess.PIPE)
    return done.stdout


def manager(release: bool) -> Program:
    """Builds the manager. release: optimised, as releases are; otherwise as for tests, with more shared libraries."""
    target, flags = "//cmd/mandate-manager", ["--config=release"] if release else []
    bazel("build", *flags, "--noshow_progress", target)
    path = os.path.join(bazel("info", *flags, "bazel-bin").strip(), "cmd", "mandate-manager", "mandate-manager")
    used = bazel("query", "--noshow_progress", f'filter("^//third_party:", deps({target}))')
    headers = {closure.Package(package) for library, package in HEADER_ONLY.items()
               if re.search(rf"^//third_party:{library}$", used, re.MULTILINE)}
    static = {*closure.packages(closure.static_libraries(path + "-2.params")), *headers}
    return Program(path, sorted(static, key=lambda package: package.name), _modules())


def _modules() -> dict[str, str]:
    """The published API definitions of Kubernetes, at the version that the repository rules name."""
    with open(os.path.join(tree.ROOT, DEPENDENCIES), encoding="utf-8") as f:
        found = re.search(r'name = "kubernetes",\s+version = "(v[^"]+)"', f.read())
    if not found:
        raise ValueError(f"{DEPENDENCIES}: kubernetes_api(name = \"kubernetes\") has no version")
    return {"k8s.io/api": found[1], "k8s.io/apimachinery": found[1]}


def stripped(path: str) -> bytes:
    """The program without its symbols; with its notes, which `rbacgen audit` reads."""
    with tempfile.NamedTemporaryFile() as out:
        subprocess.run(["strip", "--strip-all", "-o", out.name, path], check=True)
        with open(out.name, "rb") as f:  # strip makes the file anew
            return f.read()


def install(program: bytes, path: str) -> None:
    with open(path + ".new", "wb") as f:
        f.write(program)
    os.chmod(path + ".new", 0o755)
    os.replace(path + ".new", path)
