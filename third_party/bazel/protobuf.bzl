"""C++ libraries from .proto files, by Debian's protoc."""

load("@rules_cc//cc:defs.bzl", "cc_library")

_GRPC_PLUGIN = "/usr/bin/grpc_cpp_plugin"

def kubernetes_cc_proto(name, proto, deps):
    """One of Kubernetes' generated.proto files; called from kubernetes_api's BUILD only."""
    root = "external/" + native.repository_name()[1:]
    stem = proto[:-len(".proto")]
    native.genrule(
        name = name + "_protoc",
        srcs = [":protos"],
        outs = [stem + ".pb.h", stem + ".pb.cc"],
        cmd = "protoc -I {root} --cpp_out=$(RULEDIR) {root}/{proto}".format(root = root, proto = proto),
    )
    cc_library(
        name = name,
        srcs = [stem + ".pb.cc"],
        hdrs = [stem + ".pb.h"],
        copts = ["-w"],
        includes = ["."],
        deps = deps + ["@mandate//third_party:protobuf"],
    )

def cc_proto(name, srcs, deps = [], proto_deps = [], kubernetes = [], grpc = False, **kwargs):
    """A library of this project's .proto files, included as "api/…/x.pb.h".

    Args:
      name: the library; its .proto files are name + "_protos".
      srcs: .proto files of this package.
      deps: C++ libraries that the generated code needs: other cc_proto targets.
      proto_deps: the "_protos" of those targets.
      kubernetes: names in @kubernetes, such as "apimachinery_meta_v1".
      grpc: whether the files hold services.
      **kwargs: visibility, testonly.
    """
    native.filegroup(name = name + "_protos", srcs = srcs, **kwargs)
    stems = [s[:-len(".proto")] for s in srcs]
    outs = [s + ".pb" + e for s in stems for e in (".h", ".cc")]

    # Names of .proto files are relative to their repository.
    repository = native.repository_name()[1:]
    root = "external/" + repository if repository else "."
    out = "$(GENDIR)/" + root
    flags = "--cpp_out=" + out
    if grpc:
        outs += [s + ".grpc.pb" + e for s in stems for e in (".h", ".cc")]
        flags += " --grpc_out=" + out + " --plugin=protoc-gen-grpc=" + _GRPC_PLUGIN
    native.genrule(
        name = name + "_protoc",
        srcs = srcs + proto_deps + ["@kubernetes//:protos"],
        outs = outs,
        cmd = "protoc -I {} -I external/mandate -I external/kubernetes {} {}".format(
            root,
            flags,
            " ".join(["$(location {})".format(s) for s in srcs]),
        ),
    )
    cc_library(
        name = name,
        srcs = [o for o in outs if o.endswith(".cc")],
        hdrs = [o for o in outs if o.endswith(".h")],
        copts = ["-w"],
        deps = deps + ["@kubernetes//:" + k for k in kubernetes] + ["@mandate//third_party:protobuf"] +
               (["@mandate//third_party:grpc"] if grpc else []),
        **kwargs
    )
