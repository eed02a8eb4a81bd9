"""CMake's files about the installed library: where it is, and what it needs of the system."""
import os
import re
import subprocess
from collections.abc import Sequence

from mandate_release import closure, tree

TEMPLATES = os.path.join(tree.ROOT, "hack", "library", "cmake")
THREADS = "pthread"  # CMake has a target of its own for it


def _file(name: str) -> str | None:
    """The path of a library in the compiler's folders."""
    path = subprocess.run(["gcc", f"-print-file-name={name}"], check=True, capture_output=True, text=True).stdout.strip()
    return path if os.path.isabs(path) else None


def libraries(link: Sequence[str]) -> dict[str, str]:
    """From the name of each library of the system in the linker's flags to its file. Raises ValueError for another flag."""
    found = {}
    for flag in link:
        if not flag.startswith("-l"):
            raise ValueError(f"the linker's flag {flag} is not a library: MandateConfig.cmake cannot pass it on")
        name = flag.removeprefix("-l")
        if name == THREADS:
            continue
        path = next((path for path in map(_file, (f"lib{name}.so", f"lib{name}.a")) if path), None)
        if path is None:
            raise ValueError(f"the compiler finds neither lib{name}.so nor lib{name}.a, which {flag} needs")
        found[name] = closure.canonical(path)
    return found


def _needs(link: Sequence[str]) -> str:
    """A list for CMake: library=package."""
    files = libraries(link)
    owners = closure.owners(list(files.values()))
    return " ".join(f'"{name}={owners[file]}"' for name, file in files.items())


def texts(archives: Sequence[tuple[Sequence[str], Sequence[str]]], version: str, libdir: str) -> dict[str, str]:
    """The files, by name. archives: of mandate and of testing, the linker's flags and the definitions."""
    (link, defines), (testing, _) = archives
    values = {"VERSION": version, "MAJOR_MINOR": ".".join(version.split(".")[:2]), "LIBDIR": libdir,
              "TO_PREFIX": os.path.relpath(".", os.path.join(libdir, "cmake", "Mandate")), "DEFINES": ";".join(defines),
              "MANDATE_NEEDS": _needs(link), "TESTING_NEEDS": _needs(testing)}
    found = {}
    for name in sorted(os.listdir(TEMPLATES)):
        with open(os.path.join(TEMPLATES, name), encoding="utf-8") as f:
            text = f.read()
        if name.endswith(".in"):
            text = re.sub(r"@([A-Z_]+)@", lambda match: values[match[1]], text)
        found[name.removesuffix(".in")] = text
    return found
