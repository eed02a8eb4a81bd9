"""The library for other build systems: the Debian package, unpacked, and a component that CMake builds against it.

usage: hack/library_test [NAME…] [-k PATTERN]… [--list] [--junit FILE]

The last line is `N passed, N failed`.
"""
from collections.abc import Sequence

from mandate_dev import runner
from mandate_release.cases.library import LibraryTest, OptimisedTest, SourceTest


def main(argv: Sequence[str]) -> int:
    return runner.main("hack/library_test", __doc__, (SourceTest, OptimisedTest, LibraryTest), argv)
