"""A header, its source and its test, as one target."""

load("@rules_cc//cc:defs.bzl", "cc_library", "cc_test")

# Abseil, and what it needs to be used with the standard library.
_ABSEIL = [
    "@mandate//manager/core:status_macros",
    "@mandate//manager/core:strings",
    "@mandate//third_party:absl",
]

def cc_unit(name, deps = [], test_deps = [], testonly = None, visibility = None, **test):
    """The library of `name`.h and `name`.cc, and the test of `name`_test.cc; each if the file exists.

    Args:
      name: the library, and the files without their suffixes.
      deps: of the library, beside Abseil and core's strings and status_macros.
      test_deps: of the test, beside the library, those and GoogleTest.
      testonly: of the library.
      visibility: of the library.
      **test: other attributes of the test, each with the prefix test_: test_size = "medium".
    """
    cc_library(
        name = name,
        srcs = native.glob([name + ".cc"], allow_empty = True),
        hdrs = [name + ".h"],
        testonly = testonly,
        visibility = visibility,
        deps = deps + _ABSEIL,
    )
    attributes = {}
    for key, value in test.items():
        if not key.startswith("test_"):
            fail("cc_unit {}: unknown attribute {}".format(name, key))
        attributes[key[len("test_"):]] = value
    if native.glob([name + "_test.cc"], allow_empty = True):
        unit_test(name + "_test", deps = [":" + name] + test_deps, **attributes)
    elif test_deps or attributes:
        fail("cc_unit {}: attributes of a test, but no {}_test.cc".format(name, name))

def unit_test(name, deps, size = "small", **attributes):
    """The test `name` of the file `name`.cc. GoogleTest and Abseil are among its `deps`."""
    cc_test(
        name = name,
        size = size,
        srcs = [name + ".cc"],
        deps = deps + _ABSEIL + ["@mandate//third_party:gtest_main"],
        **attributes
    )
