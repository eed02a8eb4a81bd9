"""Builds the manager's container image: an OCI layout, the same as one archive, and its SBOM. No daemon, no root.

usage: hack/image [--fastbuild] [DIR]

Writes mandate-manager-VERSION-linux-ARCH.oci, .oci.tar and .spdx.json to DIR (the cache folder's image/). The same tree and
Debian packages give the same digest; SOURCE_DATE_EPOCH replaces the time of the commit.

  --fastbuild   the manager as tests build it: faster to build, larger, not optimised
"""
import os
import sys
from collections.abc import Sequence

from mandate_dev.paths import cache
from mandate_release import artifacts, image, programs, tree


def main(argv: Sequence[str]) -> int:
    if argv in (["--help"], ["-h"]):
        print((__doc__ or "").strip())
        return 0
    fast = "--fastbuild" in argv
    folders = [argument for argument in argv if argument != "--fastbuild"]
    if len(folders) > 1 or any(argument.startswith("-") for argument in folders):
        print("usage: hack/image [--fastbuild] [DIR]", file=sys.stderr)
        return 2
    folder = os.path.abspath(folders[0]) if folders else cache("image")
    made = image.image(folder, programs.manager(release=not fast))
    print(f"Mandate {made.version}, commit {tree.revision() or 'unknown'}:")
    print(f"  layout   {made.folder}")
    print(f"  archive  {made.archive} ({artifacts.size(made.archive)})")
    print(f"  SBOM     {made.sbom}")
    print(f"  digest   {made.digest}")
    return 0
