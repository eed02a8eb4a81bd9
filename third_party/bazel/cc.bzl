"""A header, its source and its test, as one target."""

load("@rules_cc//cc:defs.bzl", "cc_library", "cc_test")

_ABSEIL = "@mandate//third_party:absl"  # a part of nearly every unit

def cc_unit(name, deps = [], test_deps = None, testonly = None, visibility = None, **test):
    """The library of `name`.h and, if the file exists, `name`.cc; and its test `name`_test.

    Args:
      name: the library, and the files without their suffixes.
      deps: of the library, beside Abseil.
      test_deps: of the test, beside the library, Abseil and GoogleTest. Without it there is no test.
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
        deps = deps + [_ABSEIL],
    )
    attributes = {}
    for key, value in test.items():
        if not key.startswith("test_"):
            fail("cc_unit {}: unknown attribute {}".format(name, key))
        attributes[key[len("test_"):]] = value
    if test_deps == None:
        if attributes:
            fail("cc_unit {}: attributes of a test without test_deps".format(name))
        return
    unit_test(name + "_test", deps = [":" + name] + test_deps, **attributes)

def unit_test(name, deps, size = "small", **attributes):
    """The test `name` of the file `name`.cc. GoogleTest and Abseil are among its `deps`."""
    cc_test(
        name = name,
        size = size,
        srcs = [name + ".cc"],
        deps = deps + [_ABSEIL, "@mandate//third_party:gtest_main"],
        **attributes
    )
