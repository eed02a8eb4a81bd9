#include "manager/rbac/request_marker.h"

#include "absl/strings/escaping.h"
#include "manager/core/strings.h"
#include "manager/rbac/marker.h"

namespace mandate::rbac {
namespace {

// As a marker's argument: in quotes if it would end there otherwise.
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
  // A request for a Namespace is in that namespace, and yet no Role allows it.
  if (!request.ns.empty() && request.resource != "namespaces") {
    StrAppend(&marker, ",namespace=", Value(request.ns));
  }
  // Nobody can be allowed to create an object by its name: a POST has none.
  const bool creates = verbs == "create" && request.subresource.empty();
  if (!request.name.empty() && !creates) {
    StrAppend(&marker, ",resourceNames=", Value(request.name));
  }
  return marker;
}

}  // namespace mandate::rbac
