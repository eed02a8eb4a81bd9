"""A header, its source and its test, as one target."""

load("@rules_cc//cc:defs.bzl", "cc_library", "cc_test")

# Abseil, and what it needs to be used with the standard library.
_ABSEIL = [
    "@mandate//manager/core:status_macros",
    "@mandate//manager/core:strings",
    "@mandate//third_party:absl",
]

# What a test has, too.
_TEST = [
    "@mandate//manager/core/testing",
    "@mandate//third_party:gtest_main",
]

# Found beside its .gch, in the outputs: -include looks where #include "…" does. With gcc's headers in one
# piece, a source that forgets to include one of them compiles: --config=release and hack/nightly threadsafety compile
# without it. The warnings are wrong about std::string, and gcc forgets that its lines are those of the system.
def _copts(header):
    return select({
        "@mandate//third_party:headers_as_they_are": [],
        "//conditions:default": [
            "-include",
            "third_party/{}.h".format(header),
            "-Winvalid-pch",
            "-Wno-array-bounds",
            "-Wno-restrict",
            "-Wno-stringop-overflow",
            "-Wno-stringop-overread",
        ],
    })

def _header(header):
    return select({
        "@mandate//third_party:headers_as_they_are": [],
        "//conditions:default": ["@mandate//third_party:" + header],
    })

def cc_unit(name, srcs = [], hdrs = [], deps = [], tests = [], test_deps = [], testonly = None, visibility = None, **test):
    """The library of `name`.h and `name`.cc, and the test of `name`_test.cc; each if the file exists.

    Args:
      name: the library, and the files without their suffixes.
      srcs: further sources of the library.
      hdrs: further headers of the library.
      deps: of the library, beside Abseil and core's strings and status_macros.
      tests: further tests, each of one file, with the same deps and attributes.
      test_deps: of the tests, beside the library, its deps, and what unit_test adds.
      testonly: of the library.
      visibility: of the library.
      **test: other attributes of the tests, each with the prefix test_: test_size = "medium".
    """
    sources = native.glob([name + ".cc"], allow_empty = True) + srcs
    cc_library(
        name = name,
        srcs = sources,
        hdrs = [name + ".h"] + hdrs,
        copts = _copts("precompiled") if sources else [],
        testonly = testonly,
        visibility = visibility,
        deps = deps + _ABSEIL + (_header("precompiled") if sources else []),
    )
    attributes = {}
    for key, value in test.items():
        if not key.startswith("test_"):
            fail("cc_unit {}: unknown attribute {}".format(name, key))
        attributes[key[len("test_"):]] = value
    if native.glob([name + "_test.cc"], allow_empty = True):
        tests = [name + "_test"] + tests
    if not tests and (test_deps or attributes):
        fail("cc_unit {}: attributes of a test, but no {}_test.cc".format(name, name))
    for unit in tests:
        unit_test(unit, deps = [":" + name] + deps + test_deps, **attributes)

def unit_test(name, deps = [], size = "small", copts = [], **attributes):
    """The test `name` of the file `name`.cc. GoogleTest, manager/core/testing and Abseil are among its `deps`."""
    cc_test(
        name = name,
        size = size,
        srcs = [name + ".cc"],
        copts = copts + _copts("precompiled_test"),
        deps = deps + _ABSEIL + _TEST + _header("precompiled_test"),
        **attributes
    )
