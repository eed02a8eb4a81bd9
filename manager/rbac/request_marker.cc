#include "manager/rbac/request_marker.h"

#include "absl/strings/escaping.h"
#include "manager/core/strings.h"
#include "manager/rbac/marker.h"

namespace mandate::rbac {
namespace {

// The text as a marker's argument: in quotes if it contains a character that would end the
// argument.
std::string Value(const std::string& text) {
  if (text.find_first_of(",;{}\"`\\ \t\n") == text.npos) return text;
  return StrCat("\"", absl::CEscape(text), "\"");
}

}  // namespace

std::string MarkerFor(const Attributes& request, std::string_view verbs) {
  if (!request.is_resource_request) {
    return StrCat("// +kubebuilder:rbac:urls=", Value(request.path), ",verbs=", verbs);
  }
  std::string marker;
  AppendMarker(marker, request.api_group, request.resource, request.subresource, verbs);
  // Namespaces are cluster-scoped, so the marker has no namespace, although the request is in the
  // Namespace of its name.
  if (!request.ns.empty() && request.resource != "namespaces") {
    StrAppend(&marker, ",namespace=", Value(request.ns));
  }
  // A rule cannot restrict creation by name, because a POST has no name.
  const bool creates = verbs == "create" && request.subresource.empty();
  if (!request.name.empty() && !creates) {
    StrAppend(&marker, ",resourceNames=", Value(request.name));
  }
  return marker;
}

}  // namespace mandate::rbac
