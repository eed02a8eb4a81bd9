"""The library for other build systems: static archives, headers, .proto files, rbacgen, and CMake's files about them."""
import json
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from typing import Any

from mandate_release import cmake, programs, tree

TARGETS = ("//hack/library:mandate", "//hack/library:mandate_testing")
TOOL = "//rbacgen"
# The compiler's flags are those of --config=release. Its archives of gRPC are not asked for: users link Debian's libraries.
RELEASE = ("-c", "opt", "--copt=-O2", "--dynamic_mode=off")
INCLUDES = "include/mandate"


@dataclass(frozen=True)
class Archive:
    """A static library that Bazel made. headers, protos: from the name in an include to the file. roots: the headers that
    its users include. link: the flags for the system's libraries."""
    path: str
    headers: dict[str, str]
    roots: list[str]
    protos: dict[str, str]
    defines: list[str]
    link: list[str]


@dataclass(frozen=True)
class Library:
    archives: list[Archive]
    rbacgen: str


def source(path: str, output_base: str, output_path: str) -> str:
    """Where the file is that Bazel knows by a path of its execution root. A build that runs beside this program makes the
    links of the execution root anew: for a moment they do not exist."""
    first, _, rest = path.partition("/")
    if first == "external":
        return os.path.join(output_base, path)
    return os.path.join(output_path, rest) if first == "bazel-out" else os.path.join(tree.ROOT, path)


def _archive(stem: str, output_base: str, output_path: str) -> Archive:
    with open(stem + ".json", encoding="utf-8") as f:
        about: dict[str, Any] = json.load(f)
    headers, protos = ({name: source(path, output_base, output_path) for name, path in about[kind].items()}
                       for kind in ("headers", "protos"))
    folder, name = os.path.split(stem)
    return Archive(os.path.join(folder, f"lib{name}.a"), headers, about["roots"], protos, about["defines"], about["link"])


def build(release: bool) -> Library:
    """release: optimised; otherwise as for tests."""
    flags = RELEASE if release else ()
    programs.bazel("build", *flags, *TARGETS, TOOL)
    folder, base, out = (programs.bazel("info", *flags, place).strip() for place in ("bazel-bin", "output_base", "output_path"))
    stems = [os.path.join(folder, *target.removeprefix("//").split(":")) for target in TARGETS]
    return Library([_archive(stem, base, out) for stem in stems], os.path.join(folder, "rbacgen", "rbacgen"))


def _included(path: str) -> list[str]:
    with open(path, encoding="utf-8") as f:
        return re.findall(r'^#\s*include ["<]([^">]+)[">]', f.read(), re.MULTILINE)


def headers(library: Library) -> dict[str, str]:
    """The headers that users include, all that these include, and Kubernetes' messages: from the name to the file."""
    known = {name: path for archive in library.archives for name, path in archive.headers.items()}
    wanted = [name for archive in library.archives for name in archive.roots]
    wanted += [name for name in known if name.startswith("k8s.io/")]
    found: dict[str, str] = {}
    while wanted:
        name = wanted.pop()
        if name in known and name not in found:
            found[name] = known[name]
            wanted += _included(known[name])
    return dict(sorted(found.items()))


def system_headers(library: Library) -> list[str]:
    """The paths of the system's headers that ours include, without those of the compiler."""
    ours = headers(library)
    names = {name for path in ours.values() for name in _included(path)} - set(ours)
    multiarch = subprocess.run(["gcc", "-print-multiarch"], check=True, capture_output=True, text=True).stdout.strip()
    paths = [os.path.join(folder, name) for name in names for folder in ("/usr/include", f"/usr/include/{multiarch}")]
    return sorted(path for path in paths if os.path.isfile(path))


def protos(library: Library) -> dict[str, str]:
    """The .proto files whose messages are in the library."""
    ours = headers(library)
    return {name: path for archive in library.archives for name, path in sorted(archive.protos.items())
            if name.removesuffix(".proto") + ".pb.h" in ours}


def install(library: Library, prefix: str, libdir: str = "lib", rbacgen: str | None = None) -> int:
    """Copies everything below `prefix`, and returns how many files. rbacgen: the program in place of the library's."""
    texts = cmake.texts([(archive.link, archive.defines) for archive in library.archives], tree.version(), libdir)
    files = {os.path.join(INCLUDES, name): path for name, path in (headers(library) | protos(library)).items()}
    files |= {os.path.join(libdir, os.path.basename(archive.path)): archive.path for archive in library.archives}
    files |= {"bin/rbacgen": rbacgen or library.rbacgen}
    # What an earlier version installed here and this one does not would still be included.
    shutil.rmtree(os.path.join(prefix, INCLUDES), ignore_errors=True)
    for name, path in files.items():
        _write(os.path.join(prefix, name), path, 0o755 if name.startswith("bin/") else 0o644)
    for name, text in texts.items():
        write_text(os.path.join(prefix, libdir, "cmake", "Mandate", name), text)
    return len(files) + len(texts)


def _write(path: str, source: str, mode: int) -> None:
    os.makedirs(os.path.dirname(path), mode=0o755, exist_ok=True)
    shutil.copyfile(source, path + ".new")
    os.chmod(path + ".new", mode)
    os.replace(path + ".new", path)


def write_text(path: str, text: str) -> None:
    """Writes a file that everybody may read, in a folder that it makes if need be."""
    os.makedirs(os.path.dirname(path), mode=0o755, exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    os.chmod(path, 0o644)
