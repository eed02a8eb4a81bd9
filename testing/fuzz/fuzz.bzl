"""Fuzz targets: one source file each, run by libFuzzer (hack/fuzz) and, on kept inputs, as a test."""

load("@rules_cc//cc:defs.bzl", "cc_binary", "cc_test")

def fuzz_target(name, deps, data = [], seeds = [], mutations = 0):
    """A target whose source is name + ".cc" and whose inputs are in corpus/ + name.

    Args:
      name: the target: `hack/fuzz <name>`; its binary is name + "_fuzzer", which only links with
        clang and hack/fuzz's flags.
      deps: what the source includes.
      data: what it reads when it runs.
      seeds: further inputs, such as fixtures, that are not kept in this tree.
      mutations: how many mutations of each input the test runs too.
    """
    cc_binary(
        name = name + "_fuzzer",
        testonly = True,
        srcs = [name + ".cc"],
        data = data + seeds,
        linkopts = ["-fsanitize=fuzzer"],
        tags = ["manual"],
        deps = deps + [":fuzz"],
    )
    inputs = native.glob(["corpus/{}/*".format(name)])
    cc_test(
        name = name + "_test",
        size = "small",
        srcs = [
            name + ".cc",
            "replay.cc",
        ],
        args = [str(mutations)] + ["$(rootpaths {})".format(s) for s in seeds] +
               [native.package_name() + "/corpus/" + name],
        data = data + seeds + inputs,
        deps = deps + [":fuzz"],
    )
