// The text of the markers that rbacgen reads.
#pragma once

#include <string_view>

namespace mandate::rbac {

// The word that a suggested marker has in place of a namespace. rbacgen rejects it.
inline constexpr std::string_view kNamespaceToWrite = "NAMESPACE";

// Where a marker's rule applies.
enum class MarkerReach {
  kCluster,
  kNamespace,  // one, whose name the author has to write
  kExternal,   // where an administrator grants it: the marker itself grants nothing
};

constexpr std::string_view MarkerStart(MarkerReach reach) {
  return reach == MarkerReach::kExternal ? "// +mandate:rbac:granted=external,groups="
                                         : "// +kubebuilder:rbac:groups=";
}

constexpr std::string_view MarkerEnd(MarkerReach reach) {
  return reach == MarkerReach::kNamespace ? ",namespace=NAMESPACE" : "";
}
static_assert(MarkerEnd(MarkerReach::kNamespace).ends_with(kNamespaceToWrite));

// Appends "// +kubebuilder:rbac:groups=apps,resources=deployments/scale,verbs=update" to `out`, a
// type with append(std::string_view): a std::string at run time, a buffer in constant expressions.
template <class Out>
constexpr void AppendMarker(Out& out, std::string_view group, std::string_view resource,
                            std::string_view subresource, std::string_view verb,
                            MarkerReach reach = MarkerReach::kCluster) {
  out.append(MarkerStart(reach));
  out.append(group.empty() ? std::string_view("core") : group);
  out.append(std::string_view(",resources="));
  out.append(resource);
  if (!subresource.empty()) {
    out.append(std::string_view("/"));
    out.append(subresource);
  }
  out.append(std::string_view(",verbs="));
  out.append(verb);
  out.append(MarkerEnd(reach));
}

}  // namespace mandate::rbac
