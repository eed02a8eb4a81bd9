"""Installs the library for other build systems: headers, static archives, .proto files, rbacgen and CMake's files.

usage: hack/install [--prefix DIR] [--destdir DIR] [--libdir NAME] [--fastbuild]

  --prefix DIR   where its users find it (/usr/local)
  --destdir DIR  a folder in front of the prefix, for those who pack it
  --libdir NAME  the folder of archives below the prefix (lib)
  --fastbuild    as for tests: faster to build, not optimised
"""
import argparse
import os
import subprocess
import sys
from collections.abc import Sequence

from mandate_release import library, tree


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="hack/install", add_help=False, allow_abbrev=False)
    parser.add_argument("--prefix", default="/usr/local")
    parser.add_argument("--destdir", default="")
    parser.add_argument("--libdir", default="lib")
    parser.add_argument("--fastbuild", action="store_true")
    parser.add_argument("-h", "--help", action="store_true")
    options = parser.parse_args(argv)
    if options.help:
        print((__doc__ or "").strip())
        return 0
    if not os.path.isabs(options.prefix):
        parser.error(f"--prefix {options.prefix}: it must begin with /")
    try:
        built = library.build(release=not options.fastbuild)
    except subprocess.CalledProcessError:
        print("hack/install: the library does not build; see above. Nothing was installed", file=sys.stderr)
        return 1
    folder = os.path.join(os.path.abspath(options.destdir), options.prefix.lstrip("/")) if options.destdir else options.prefix
    try:
        count = library.install(built, folder, options.libdir)
    except OSError as error:
        print(f"hack/install: cannot write {error.filename}: {error.strerror}; choose another --prefix, or run it as root",
              file=sys.stderr)
        return 1
    print(f"Mandate {tree.version()}: {count} files in {folder}; CMake finds it with CMAKE_PREFIX_PATH={options.prefix}")
    return 0
