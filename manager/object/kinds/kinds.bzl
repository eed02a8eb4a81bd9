"""The kinds of Kubernetes' own groups in version v1, as its discovery lists them."""

load("@kubernetes_discovery//:json.bzl", "JSON")
load("//third_party/bazel:cc.bzl", "cc_unit")

_HEADER = """// The kinds of the group "{group}", generated from Kubernetes' discovery.
#ifndef {guard}
#define {guard}

#include "k8s.io/api/{package}/v1/generated.pb.h"
#include "manager/object/kind.h"

namespace mandate {{

namespace {package}v1 = ::k8s::io::api::{package}::v1;
{kinds}
}}  // namespace mandate

#endif  // {guard}
"""

_KIND = """
template <>
struct KindOf<{package}v1::{kind}> {{
  static constexpr KindInfo value = BuiltIn("{group}", "{kind}", "{plural}", Scope::k{scope});
}};
"""

def _kinds(group):
    """The kind, plural and scope of each of the group's resources."""
    if group == "":
        return [
            (r["kind"], r["name"], "Namespaced" if r["namespaced"] else "Cluster")
            for r in JSON["api/discovery/api__v1.json"]["resources"]
            # The options are the objects of CONNECT requests: PodExecOptions of pods/exec.
            if "/" not in r["name"] or r["kind"].endswith("Options")
        ]
    kinds = [
        (r["responseKind"]["kind"], r["resource"], r["scope"])
        for g in JSON["api/discovery/aggregated_v2.json"]["items"]
        if g["metadata"]["name"] == group
        for version in g["versions"]
        if version["version"] == "v1"
        for r in version["resources"]
    ]
    if group == "authentication.k8s.io":
        # A subresource of the core group that travels in this one. RBAC asks for "create" on
        # serviceaccounts/token in the core group.
        kinds.append(("TokenRequest", "serviceaccounts/token", "Namespaced"))
    return kinds

def _written_impl(ctx):
    ctx.actions.write(ctx.outputs.out, ctx.attr.content)

_written = rule(
    implementation = _written_impl,
    attrs = {
        "content": attr.string(),
        "out": attr.output(),
    },
)

def kinds(package, group):
    """The library `package`_v1: the messages of `group` in version v1, and their KindOf.

    Args:
      package: the last part of the name of the package in Go, such as rbac.
      group: such as rbac.authorization.k8s.io.
    """
    name = package + "_v1"
    _written(
        name = name + "_header",
        out = name + ".h",
        content = _HEADER.format(
            group = group,
            guard = "MANAGER_OBJECT_KINDS_{}_H_".format(name.upper()),
            kinds = "".join([
                _KIND.format(package = package, group = group, kind = kind, plural = plural, scope = scope)
                for kind, plural, scope in _kinds(group)
            ]),
            package = package,
        ),
    )
    cc_unit(
        name = name,
        deps = [
            "//manager/object:kind",
            "@kubernetes//:api_" + name,
        ],
    )
