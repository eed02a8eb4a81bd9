"""Compiles the C++ blocks of documentation pages."""

load("@rules_cc//cc:defs.bzl", "cc_library")

def page_code(name, blocks, deps):
    """The blocks of ../NAME.md.

    NAME.cc includes each as testing/docs/NAME_1.inc, NAME_2.inc, …, within what a reader of the page has at that place.

    Args:
      name: the page, with "_" for "-".
      blocks: how many blocks of C++ it has; a build with another number fails.
      deps: of the blocks.
    """
    page = "//docs:%s.md" % name.replace("_", "-")
    files = ["%s_%d.inc" % (name, i + 1) for i in range(blocks)]
    native.genrule(
        name = name + "_blocks",
        srcs = [page],
        outs = files,
        cmd = "python3 $(location extract.py) $(location %s) $(OUTS)" % page,
        exec_tools = ["extract.py"],
    )
    cc_library(
        name = name,
        testonly = True,
        srcs = [name + ".cc"] + files,
        deps = deps,
    )
