"""The kinds of Kubernetes' own groups in their stable versions, as its discovery lists them."""

load("@kubernetes_discovery//:json.bzl", "JSON")
load("//third_party/bazel:cc.bzl", "cc_unit")
load("//third_party/bazel:written.bzl", "written")

_HEADER = """// The kinds of the group "{group}", generated from Kubernetes' discovery.
#ifndef {guard}
#define {guard}

#include "k8s.io/api/{package}/{version}/generated.pb.h"
#include "manager/object/kind.h"

namespace mandate {{

namespace {package}{version} = ::k8s::io::api::{package}::{version};
{kinds}
}}  // namespace mandate

#endif  // {guard}
"""

_KIND = """
template <>
struct KindOf<{package}{version}::{kind}> {{
  static constexpr KindInfo value = {value};
}};
"""

_V1 = 'BuiltIn("{group}", "{kind}", "{plural}", Scope::k{scope})'
_OTHER = """{{
      .group = "{group}",
      .version = "{version}",
      .kind = "{kind}",
      .plural = "{plural}",
      .scope = Scope::k{scope},
      .encoding = Encoding::kProtobuf}}"""

def _kinds(group, wanted):
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
        if version["version"] == wanted
        for r in version["resources"]
    ]
    if group == "authentication.k8s.io":
        # A subresource of the core group that travels in this one. RBAC asks for "create" on
        # serviceaccounts/token in the core group.
        kinds.append(("TokenRequest", "serviceaccounts/token", "Namespaced"))
    return kinds

def kinds(name, group):
    """A library of the messages of a group in one version, and of their KindOf.

    Args:
      name: the library: the last part of the name of the package in Go, and the version, such as rbac_v1.
      group: such as rbac.authorization.k8s.io.
    """
    package, version = name.split("_")
    written(
        name = name + "_header",
        out = name + ".h",
        content = _HEADER.format(
            group = group,
            guard = "MANAGER_OBJECT_KINDS_{}_H_".format(name.upper()),
            kinds = "".join([
                _KIND.format(
                    package = package,
                    version = version,
                    kind = kind,
                    value = (_V1 if version == "v1" else _OTHER).format(
                        group = group,
                        version = version,
                        kind = kind,
                        plural = plural,
                        scope = scope,
                    ),
                )
                for kind, plural, scope in _kinds(group, version)
            ]),
            package = package,
            version = version,
        ),
    )
    cc_unit(
        name = name,
        deps = [
            "//manager/object:kind",
            "@kubernetes//:api_" + name,
        ],
    )
