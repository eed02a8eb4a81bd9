"""What Kubernetes' discovery says of the kinds of its own groups."""

load("@kubernetes_discovery//:json.bzl", "JSON")
load("//third_party/bazel:written.bzl", "written")

_HEADER = """// The kinds of Kubernetes' own groups, generated from its discovery.
#pragma once

#include <string_view>

namespace mandate::apiserver {{

struct DiscoveredKind {{
  std::string_view group;
  std::string_view version;
  std::string_view kind;
  std::string_view plural;
  std::string_view singular;
  bool namespaced;
  bool has_status;
  std::string_view short_names;  // separated by commas, as the categories
  std::string_view categories;
}};

inline constexpr DiscoveredKind kDiscoveredKinds[] = {{
{rows}}};

}}  // namespace mandate::apiserver
"""

def _row(group, version, kind, plural, singular, namespaced, has_status, short_names, categories):
    texts = ['"{}"'.format(text) for text in [group, version, kind, plural, singular]]
    bools = [str(value).lower() for value in [namespaced, has_status]]
    lists = ['"{}"'.format(",".join(names)) for names in [short_names, categories]]
    return "    {%s},\n" % ", ".join(texts + bools + lists)

def _core_rows():
    resources = JSON["api/discovery/api__v1.json"]["resources"]
    names = [r["name"] for r in resources]
    return [
        _row(
            "",
            "v1",
            r["kind"],
            r["name"],
            r["singularName"],
            r["namespaced"],
            r["name"] + "/status" in names,
            r.get("shortNames", []),
            r.get("categories", []),
        )
        for r in resources
        if "/" not in r["name"] and "list" in r["verbs"]
    ]

def _group_rows():
    return [
        _row(
            group["metadata"]["name"],
            version["version"],
            r["responseKind"]["kind"],
            r["resource"],
            r["singularResource"],
            r["scope"] == "Namespaced",
            "status" in [s["subresource"] for s in r.get("subresources", [])],
            r.get("shortNames", []),
            r.get("categories", []),
        )
        for group in JSON["api/discovery/aggregated_v2.json"]["items"]
        for version in group["versions"]
        for r in version["resources"]
        if "list" in r["verbs"]
    ]

def discovered_kinds(name, out):
    """Writes a header with a table of the kinds that can be listed.

    Args:
      name: the target.
      out: the header.
    """
    written(
        name = name,
        out = out,
        content = _HEADER.format(rows = "".join(_core_rows() + _group_rows())),
    )
