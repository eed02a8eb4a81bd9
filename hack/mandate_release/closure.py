"""What a program needs of the machine it was linked on: shared libraries, and the Debian packages that own them."""
import os
import re
import subprocess

LIBRARIES = "/usr/lib"


def shared_libraries(program: str) -> list[str]:
    """The paths that the loader opens for the program, and its own: as it resolves them itself."""
    done = subprocess.run(["ldd", program], check=True, capture_output=True, text=True, env={"PATH": os.environ["PATH"]})
    missing = re.findall(r"^\s*(\S+) => not found", done.stdout, re.MULTILINE)
    if missing:
        raise ValueError(f"{program}: the loader does not find {', '.join(missing)}")
    # "libz.so.1 => /lib/…/libz.so.1 (0x…)" or, of the loader, "/lib64/ld-linux-x86-64.so.2 (0x…)".
    return sorted(re.findall(r"(/\S+) \(0x", done.stdout))


def static_libraries(link_command: str) -> list[str]:
    """The archives of Debian that Bazel's parameters for the linker name."""
    with open(link_command, encoding="utf-8") as f:
        names = re.findall(r"^-l:(\S+\.a)$", f.read(), re.MULTILINE)
    multiarch = subprocess.run(["gcc", "-print-multiarch"], check=True, capture_output=True, text=True).stdout.strip()
    return [f"{LIBRARIES}/{multiarch}/{name}" for name in sorted(set(names))]


def canonical(path: str) -> str:
    """The path with its folders resolved, but not the file itself: /lib is a link to /usr/lib."""
    return os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))


class Package:
    """A Debian package that is installed here."""

    def __init__(self, name: str) -> None:
        """name: as dpkg gives it, with or without the architecture."""
        fields = ("binary:Package", "Version", "Architecture", "source:Package", "Homepage")
        done = subprocess.run(["dpkg-query", "-W", "-f", "\n".join("${%s}" % field for field in fields), name],
                              check=True, capture_output=True, text=True)
        full, self.version, self.architecture, self.source, self.homepage = done.stdout.split("\n")
        self.name = full.partition(":")[0]

    def release(self) -> str:
        """The first two numbers of the version: 3.21 of 3.21.12-3, and 1:1.2 of 1:1.2.13.dfsg-1."""
        found = re.match(r"(\d+:)?\d+(\.\d+)?", self.version)
        return found[0] if found else self.version

    def copyright(self) -> bytes:
        with open(f"/usr/share/doc/{self.name}/copyright", "rb") as f:
            return f.read()

    def licences(self) -> list[str]:
        """As a copyright file in Debian's machine-readable form names them; empty for one in another form."""
        text = self.copyright().decode("utf-8", "replace")
        if not text.startswith("Format:"):
            return []
        return sorted({name.strip() for name in re.findall(r"^License:[ \t]*(\S.*)$", text, re.MULTILINE)})


def owners(files: list[str]) -> dict[str, str]:
    """From each file to the name of the package that owns it. Links are files of their own."""
    # dpkg may know a file by the path from before /lib and /usr/lib became one.
    wanted = {name: file for file in files for name in (file, file.removeprefix("/usr"))}
    done = subprocess.run(["dpkg-query", "-S", *wanted], check=False, capture_output=True, text=True)
    found: dict[str, str] = {}
    for line in done.stdout.splitlines():
        owner, _, path = line.partition(": ")
        found[wanted[path]] = owner.partition(":")[0]
    unowned = sorted(set(files) - set(found))
    if unowned:
        raise ValueError(f"no Debian package owns {', '.join(unowned)}")
    return found


def packages(files: list[str]) -> list[Package]:
    """The packages that own the files, by name."""
    found = owners([os.path.realpath(file) for file in files])
    return sorted((Package(name) for name in set(found.values())), key=lambda package: package.name)
