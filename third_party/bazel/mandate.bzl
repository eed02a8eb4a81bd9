"""Mandates of components, generated from the markers in their sources."""

load("@rules_cc//cc:defs.bzl", "cc_library")

def mandate_header(name, srcs, base = "none", **kwargs):
    """A header of constants, included as "<package>/<name>.h", with one mandate for each component.

    Its library is `name`; the sources are `name`_sources, for who needs every component's.

    Args:
      name: the library, and the header without its suffix: "mandates".
      srcs: the sources that hold the components' markers.
      base: "only" for kBase alone, what the chart grants the manager itself to serve the
        components in srcs; "with" for both; "none" for the components.
      **kwargs: visibility, testonly.
    """
    header = name + ".h"
    native.filegroup(name = name + "_sources", srcs = srcs, **kwargs)
    native.genrule(
        name = name + "_rbacgen",
        srcs = srcs,
        outs = [header],
        cmd = "$(location @mandate//rbacgen) header --base={} --out=$@ $(SRCS)".format(base),
        tools = ["@mandate//rbacgen"],
        **kwargs
    )
    cc_library(
        name = name,
        hdrs = [header],
        deps = ["@mandate//manager/rbac:mandate"],
        **kwargs
    )
