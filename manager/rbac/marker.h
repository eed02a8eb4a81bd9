// The text of the markers that rbacgen reads.
#pragma once

#include <string_view>

namespace mandate::rbac {

// Appends "// +kubebuilder:rbac:groups=apps,resources=deployments/scale,verbs=update" to `out`, a
// type with append(std::string_view): a std::string at run time, a buffer in constant expressions.
template <class Out>
constexpr void AppendMarker(Out& out, std::string_view group, std::string_view resource,
                            std::string_view subresource, std::string_view verb) {
  out.append(std::string_view("// +kubebuilder:rbac:groups="));
  out.append(group.empty() ? std::string_view("core") : group);
  out.append(std::string_view(",resources="));
  out.append(resource);
  if (!subresource.empty()) {
    out.append(std::string_view("/"));
    out.append(subresource);
  }
  out.append(std::string_view(",verbs="));
  out.append(verb);
}

}  // namespace mandate::rbac
