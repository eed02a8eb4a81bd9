#include "testing/apiserver/access/authorization.h"

#include <string>

#include "manager/object/api_error.h"
#include "manager/rbac/forbidden.h"

namespace mandate::apiserver {

absl::Status NotAuthorized(const rbac::UserInfo& user, const rbac::Attributes& request,
                           std::string_view reason) {
  ApiStatusProto status;
  status.mutable_metadata();
  status.set_status("Failure");
  status.set_code(403);
  status.set_reason("Forbidden");
  status.set_message(rbac::ForbiddenMessage(user.name, request, reason));
  // Present even when empty: of a path.
  auto* details = status.mutable_details();
  if (!request.name.empty()) details->set_name(request.name);
  if (!request.api_group.empty()) details->set_group(request.api_group);
  if (!request.resource.empty()) details->set_kind(request.resource);
  return StatusFromApi(status);
}

}  // namespace mandate::apiserver
