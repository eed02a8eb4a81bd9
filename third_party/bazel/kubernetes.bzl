"""Kubernetes' published .proto files and test fixtures, as C++ libraries.

They come from the Go modules k8s.io/api and k8s.io/apimachinery by name and
version, through the Go module client; nothing of them is kept in this tree.
"""

load(":go_module.bzl", "GO_ENVIRON", "go_module_download")

_MODULES = ["api", "apimachinery"]

_TARGET = """
kubernetes_cc_proto(
    name = "{name}",
    proto = "{proto}",
    deps = {deps},
)
"""

def _target_name(proto):
    """k8s.io/api/rbac/v1/generated.proto -> api_rbac_v1."""
    name = proto[len("k8s.io/"):-len("/generated.proto")]
    return name.replace("/pkg/", "/").replace("apimachinery/apis/", "apimachinery/").replace("/", "_")

def _imports(text):
    return [
        line.split('"')[1]
        for line in text.splitlines()
        if line.startswith("import \"k8s.io/")
    ]

def _kubernetes_api_impl(ctx):
    protos = []
    for module in _MODULES:
        folder = go_module_download(ctx, "k8s.io/" + module, ctx.attr.version)
        found = ctx.execute(["find", folder, "-name", "generated.proto"])
        for path in sorted(found.stdout.splitlines()):
            proto = "k8s.io/" + module + path[len(folder):]
            ctx.symlink(path, proto)
            protos.append(proto)

            # The Go types beside it, which say what .proto files do not.
            types = path[:-len("generated.proto")]
            for source in ctx.execute(["find", types, "-maxdepth", "1", "-name", "*.go"]).stdout.splitlines():
                name = source.split("/")[-1]
                if not name.startswith(("generated.", "zz_generated.")) and not name.endswith("_test.go"):
                    ctx.symlink(source, "k8s.io/" + module + source[len(folder):])
        if module == "api":
            ctx.symlink(folder + "/testdata", "testdata")
    build = ["""load("@mandate//third_party/bazel:protobuf.bzl", "kubernetes_cc_proto")

package(default_visibility = ["//visibility:public"])

filegroup(
    name = "protos",
    srcs = glob(["k8s.io/**/generated.proto"]),
)

# What every message is, for those who need no generated code.
genrule(
    name = "descriptors",
    srcs = [":protos"],
    outs = ["descriptors.binpb"],
    cmd = "protoc -I external/{repository} --include_imports --descriptor_set_out=$@ {protos}",
)

# The Go types' sources, whose tags say how fields are written in JSON.
filegroup(
    name = "go_types",
    srcs = glob(["k8s.io/**/*.go"]),
)

# One object of every kind in json, pb and yaml, as the module's own tests have it.
filegroup(
    name = "fixtures",
    srcs = glob(["testdata/HEAD/*.json", "testdata/HEAD/*.pb"]),
)

# The same as earlier releases wrote it, and what is left of it after a round trip through this one.
filegroup(
    name = "released_fixtures",
    srcs = glob(["testdata/v*/*.json", "testdata/v*/*.pb"]),
)
""".format(
        repository = ctx.name,
        protos = " ".join(["external/{}/{}".format(ctx.name, p) for p in protos]),
    )]
    for proto in protos:
        deps = [":" + _target_name(i) for i in _imports(ctx.read(proto))]
        build.append(_TARGET.format(name = _target_name(proto), proto = proto, deps = deps))
    ctx.file("BUILD", "".join(build))

kubernetes_api = repository_rule(
    implementation = _kubernetes_api_impl,
    attrs = {"version": attr.string(mandatory = True)},
    environ = GO_ENVIRON,
    doc = "Downloads the modules and declares one library per API group version, such as @kubernetes//:api_rbac_v1.",
)
