"""A header, its source and its test, as one target."""

load("@rules_cc//cc:defs.bzl", "cc_library", "cc_test")

def cc_unit(name, deps = [], test_deps = None, testonly = None, visibility = None, **test):
    """The library of `name`.h and, if the file exists, `name`.cc; and its test `name`_test.

    Args:
      name: the library, and the files without their suffixes.
      deps: of the library.
      test_deps: of the test, which also gets the library and GoogleTest. Without it there is no test.
      testonly: of the library.
      visibility: of the library.
      **test: other attributes of the test, each with the prefix test_: test_size = "small".
    """
    cc_library(
        name = name,
        srcs = native.glob([name + ".cc"], allow_empty = True),
        hdrs = [name + ".h"],
        testonly = testonly,
        visibility = visibility,
        deps = deps,
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
    cc_test(
        name = name + "_test",
        srcs = [name + "_test.cc"],
        deps = [":" + name, "@mandate//third_party:gtest_main"] + test_deps,
        **attributes
    )
