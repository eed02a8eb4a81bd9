"""Builds everything that is released, with the one version of the file VERSION, and prints a table of it.

usage: hack/release [DIR]

Writes to DIR (the cache folder's release/VERSION): the manager, for Debian 12; rbacgen, as one static file; the manager's
image as an OCI archive, and its SBOM; the library as the Debian package libmandate-dev; the chart; and SHA256SUMS. Then runs
rbacgen with an empty environment, in an empty folder, on a small project, and exits 0 only if that works. hack/test does not
run this: it compiles the optimised build of both programs.
"""
import os
import sys
from collections.abc import Sequence

from mandate_dev.paths import cache
from mandate_release import artifacts, debian, image, library, programs, rbacgen, tree


def say(text: str) -> None:
    print(f"==> {text}", flush=True)


def release(folder: str) -> int:
    os.makedirs(folder, exist_ok=True)
    platform = f"{tree.version()}-linux-{tree.architecture()}"
    say("mandate-manager, optimised (ten minutes or more the first time)")
    built = programs.manager(release=True)
    manager = os.path.join(folder, f"mandate-manager-{platform}")
    say("the image")
    made = image.image(folder, built)
    programs.install(programs.stripped(built.path), manager)
    say("rbacgen, static")
    tool = os.path.join(folder, f"rbacgen-{platform}")
    rbacgen.build(tool)
    say("libmandate-dev")
    package = debian.package(folder, library.build(release=True), tool)
    say("the chart")
    chart = artifacts.package_chart(folder)
    files = {"manager, for Debian 12": manager, "rbacgen, static": tool, "image, OCI archive": made.archive,
             "SBOM of the image, SPDX": made.sbom, "library, for Debian 12": package, "chart": chart}
    checksums = artifacts.write_checksums(folder, list(files.values()))
    say("rbacgen with an empty environment")
    failures = rbacgen.failures(tool)
    for failure in failures:
        print(f"FAILED {failure}")
    print(f"\nMandate {tree.version()}, commit {tree.revision() or 'unknown'}, in {folder}:")
    print(artifacts.table({**files, "checksums": checksums}))
    print(f"  the image's digest: {made.digest}")
    return int(bool(failures))


def main(argv: Sequence[str]) -> int:
    if argv in (["--help"], ["-h"]):
        print((__doc__ or "").strip())
        return 0
    if len(argv) > 1 or any(argument.startswith("-") for argument in argv):
        print("usage: hack/release [DIR]", file=sys.stderr)
        return 2
    return release(os.path.abspath(argv[0]) if argv else cache("release", tree.version()))
