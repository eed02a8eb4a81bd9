"""Headers that rbacgen generates: mandates of components from the markers in their sources, kinds from .proto files."""

load("@rules_cc//cc:defs.bzl", "cc_library")

def mandate_header(name, srcs, base = "none", base_name = "mandate-manager", **kwargs):
    """A header of constants, included as "<package>/<name>.h", with one mandate for each component.

    Its library is `name`; the sources are `name`_sources, for who needs every component's.

    Args:
      name: the library, and the header without its suffix: "mandates".
      srcs: the sources that hold the components' markers.
      base: "only" for kBase alone, what the chart grants the manager itself to serve the
        components in srcs; "with" for both; "none" for the components.
      base_name: with a base, `base-name` of rbacgen.yaml: the manager's ServiceAccount and Lease, and
        the prefix of the components' ServiceAccounts.
      **kwargs: visibility, testonly.
    """
    header = name + ".h"
    native.filegroup(name = name + "_sources", srcs = srcs, **kwargs)
    native.genrule(
        name = name + "_rbacgen",
        srcs = srcs,
        outs = [header],
        cmd = "$(location @mandate//rbacgen) header --base={} --base-name={} --out=$@ $(SRCS)".format(base, base_name),
        tools = ["@mandate//rbacgen"],
        **kwargs
    )
    cc_library(
        name = name,
        hdrs = [header],
        deps = ["@mandate//manager/rbac:mandate"],
        **kwargs
    )

def mutate_test(name, test, srcs, **kwargs):
    """Fails if no test needs one of the components' permissions to write.

    Args:
      name: "mutate_test".
      test: the test, which runs the components with MANDATE_WITHOUT's permission removed, as
        testing/environment does.
      srcs: the files that hold the components' markers.
      **kwargs: those of a test, such as size.
    """
    native.sh_test(
        name = name,
        srcs = ["@mandate//third_party/bazel:mutate_test.sh"],
        args = ["$(rootpath @mandate//rbacgen)", "$(rootpath %s)" % test] + ["$(rootpath %s)" % src for src in srcs],
        data = ["@mandate//rbacgen", test] + srcs,
        size = kwargs.pop("size", "medium"),
        **kwargs
    )

def kind_header(name, proto, proto_deps = [], **kwargs):
    """A header with the KindOf of each kind of a cc_proto, included as "<package>/<name>.h".

    Args:
      name: the library, and the header without its suffix: "kind".
      proto: the cc_proto of the kinds.
      proto_deps: the "_protos" of the other cc_proto targets that its files import.
      **kwargs: visibility, testonly.
    """
    header = name + ".h"
    repository = native.repository_name()[1:]
    root = "external/" + repository if repository else "."
    native.genrule(
        name = name + "_rbacgen",
        srcs = [proto + "_protos", "@kubernetes//:protos"] + proto_deps,
        outs = [header],
        cmd = ("$(location @mandate//rbacgen) kinds --proto-path={} --proto-path=external/mandate " +
               "--proto-path=external/kubernetes --out=$@ $(locations {}_protos)").format(root, proto),
        tools = ["@mandate//rbacgen"],
        testonly = kwargs.get("testonly", False),
        visibility = ["//visibility:private"],
    )
    cc_library(
        name = name,
        hdrs = [header],
        deps = [proto, "@mandate//manager/object:kind"],
        **kwargs
    )
