"""Makes the manager's image: the program, its shared libraries, users, copyright files and bill of materials."""
import os
from dataclasses import dataclass

from mandate_release import closure, oci, programs, sbom, tree

NAME = "mandate-manager"
PROGRAM = "mandate-manager"
SBOM = f"usr/share/{NAME}/sbom.spdx.json"
USER = 65532


@dataclass(frozen=True)
class Image:
    """folder: the OCI layout. archive: the same as one file. sbom: a copy of the bill of materials."""
    version: str
    folder: str
    archive: str
    sbom: str
    digest: str


def _system_layer(libraries: list[str], packages: list[closure.Package]) -> oci.Layer:
    """What changes with Debian's packages alone: pulled once for many releases."""
    layer = oci.Layer()
    for folder in ("lib", "lib64"):
        layer.link(folder, f"usr/{folder}")
    for library in libraries:
        path, real = closure.canonical(library), os.path.realpath(library)
        if path != real:
            layer.link(path.lstrip("/"), os.path.relpath(real, os.path.dirname(path)))
        with open(real, "rb") as f:
            layer.add(real.lstrip("/"), f.read(), 0o755)
    layer.add("etc/passwd", b"root:x:0:0:root:/:/sbin/nologin\nnonroot:x:%d:%d:nonroot:/:/sbin/nologin\n" % (USER, USER))
    layer.add("etc/group", b"root:x:0:\nnonroot:x:%d:\n" % USER)
    # glibc would ask DNS before /etc/hosts without it.
    layer.add("etc/nsswitch.conf", b"hosts: files dns\n")
    for package in packages:
        layer.add(f"usr/share/doc/{package.name}/copyright", package.copyright())
    return layer


def image(folder: str, built: programs.Program) -> Image:
    """Writes the image of a program below `folder`."""
    version, revision, architecture = tree.version(), tree.revision(), tree.architecture()
    created = tree.rfc3339(tree.source_date_epoch())
    libraries = closure.shared_libraries(built.path)
    shared = closure.packages(libraries)
    bill = sbom.document(NAME, version, created, shared, built.static, built.modules)

    owned = {package.name: package for package in [*shared, *built.static]}
    system = _system_layer(libraries, [owned[name] for name in sorted(owned)])
    own = oci.Layer()
    own.add(PROGRAM, programs.stripped(built.path), 0o755)
    own.add(SBOM, bill)
    labels = {"org.opencontainers.image." + key: value for key, value in {
        "title": NAME, "version": version, "revision": revision, "created": created, "licenses": "Apache-2.0",
        "vendor": "The Mandate authors",
        "description": "A Kubernetes controller manager in which every component acts under its own identity",
    }.items() if value}
    config = {"User": f"{USER}:{USER}", "Entrypoint": [f"/{PROGRAM}"], "WorkingDir": "/", "Labels": labels}

    base = os.path.join(folder, f"{NAME}-{version}-linux-{architecture}")
    os.makedirs(folder, exist_ok=True)
    layout, copy = base + ".oci", base + ".spdx.json"
    digest = oci.write(layout, [system, own], config, {"architecture": architecture, "os": "linux"}, created, NAME, version)
    with open(copy, "wb") as f:
        f.write(bill)
    return Image(version, layout, layout + ".tar", copy, digest)
