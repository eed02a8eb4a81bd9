"""The Debian package libmandate-dev: the installed library, and the packages that it needs."""
import gzip
import os
import shutil
import subprocess
import tempfile

from mandate_dev.paths import ROOT
from mandate_release import closure, cmake, library, tree

NAME = "libmandate-dev"
# What its users run beside the compiler.
PROTOC = "/usr/bin/protoc"
CONTROL = """\
Package: {name}
Source: mandate
Version: {version}
Section: libdevel
Priority: optional
Architecture: {architecture}
Maintainer: The Mandate authors
Installed-Size: {kilobytes}
Depends: {depends}
Recommends: {recommends}
Description: C++ runtime of Kubernetes operators in which each controller has an identity
 Headers, static libraries, .proto files, rbacgen and CMake's package Mandate. Each
 controller and webhook has a ServiceAccount and a token of its own, and exactly the
 permissions that the markers in its source declare.
"""
COPYRIGHT = """\
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: Mandate

Files: *
Copyright: the Mandate authors
License: Apache-2.0
Comment: The headers and messages below k8s.io are generated from the .proto files of k8s.io/api and
 k8s.io/apimachinery, which are the Kubernetes authors', under the same licence.

License: Apache-2.0
 The licence is in /usr/share/common-licenses/Apache-2.0.
"""


def version() -> str:
    """Debian sorts 0.2.0~rc.1 before 0.2.0."""
    return tree.version().replace("-", "~", 1)


def _is_static(program: str) -> bool:
    headers = subprocess.run(["readelf", "-lW", program], check=True, capture_output=True, text=True).stdout
    return "INTERP" not in headers


def _relations(files: list[str]) -> list[str]:
    """The packages that own the files, each of the release that is installed here, or newer."""
    names = sorted(set(closure.owners([closure.canonical(file) for file in files]).values()))
    return [f"{package.name} (>= {package.release()})" for package in map(closure.Package, names)]


def dependencies(built: library.Library, rbacgen: str) -> tuple[list[str], list[str]]:
    """Depends and Recommends: Mandate::testing needs the second, too."""
    mandate, testing = ([*cmake.libraries(archive.link).values()] for archive in built.archives)
    shared = [] if _is_static(rbacgen) else [os.path.realpath(path) for path in closure.shared_libraries(rbacgen)]
    depends = _relations([*mandate, *library.system_headers(built), PROTOC, *shared])
    return depends, [*(one for one in _relations(testing) if one not in depends), "cmake", "g++"]


def package(folder: str, built: library.Library, rbacgen: str | None = None, compression: str = "xz") -> str:
    """Writes the package to the folder, and returns its path.

    rbacgen: the program in place of the library's. compression: as dpkg-deb names it; "none" is quick.
    """
    tool = rbacgen or built.rbacgen
    multiarch = subprocess.run(["gcc", "-print-multiarch"], check=True, capture_output=True, text=True).stdout.strip()
    depends, recommends = dependencies(built, tool)
    path = os.path.join(folder, f"{NAME}_{version()}_{tree.architecture()}.deb")
    os.makedirs(folder, exist_ok=True)
    with tempfile.TemporaryDirectory() as root:
        os.chmod(root, 0o755)
        library.install(built, os.path.join(root, "usr"), os.path.join("lib", multiarch), tool)
        document = os.path.join(root, "usr", "share", "doc", NAME)
        os.makedirs(document)
        library.write_text(os.path.join(document, "copyright"), COPYRIGHT)
        with open(os.path.join(ROOT, "CHANGELOG.md"), "rb") as f, open(os.path.join(document, "changelog.gz"), "wb") as out:
            out.write(gzip.compress(f.read(), mtime=0))
        size = sum(os.path.getsize(os.path.join(parent, name)) for parent, _, names in os.walk(root) for name in names)
        library.write_text(os.path.join(root, "DEBIAN", "control"), CONTROL.format(
            name=NAME, version=version(), architecture=tree.architecture(), kilobytes=size // 1024,
            depends=", ".join(depends), recommends=", ".join(recommends)))
        # The same whatever the umask is.
        subprocess.run(["chmod", "-R", "u+rwX,go=rX", root], check=True)
        subprocess.run(["dpkg-deb", "--root-owner-group", f"-Z{compression}", "--build", root, path + ".new"],
                       check=True, stdout=subprocess.DEVNULL,
                       env={**os.environ, "SOURCE_DATE_EPOCH": str(tree.source_date_epoch())})
        shutil.move(path + ".new", path)
    return path
