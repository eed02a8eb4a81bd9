#include "testing/apiserver/namespaces.h"

#include "manager/core/strings.h"
#include "manager/object/api_error.h"
#include "testing/apiserver/errors.h"

namespace mandate::apiserver {

absl::Status CheckNamespace(const ObjectReader& objects, const ResourceType& type,
                            std::string_view ns, std::string_view name) {
  const GroupResource namespaces{"", "namespaces"};
  if (!type.namespaced) return absl::OkStatus();
  const auto found = objects.Get(namespaces, "", ns);
  if (found == nullptr) return NotFoundError(namespaces, ns);
  if (!found->deleting) return absl::OkStatus();
  ApiStatusProto status = *ApiStatus(ForbiddenError(
      type.name, name,
      StrCat("unable to create new content in namespace ", ns, " because it is being terminated")));
  auto* cause = status.mutable_details()->add_causes();
  cause->set_reason("NamespaceTerminating");
  cause->set_message(StrCat("namespace ", ns, " is being terminated"));
  cause->set_field("metadata.namespace");
  return StatusFromApi(status);
}

}  // namespace mandate::apiserver
