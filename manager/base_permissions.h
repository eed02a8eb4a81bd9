// The permissions of the manager's own credential, which should be few.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "manager/client/rest_client.h"
#include "manager/core/call_context.h"

namespace mandate {

struct BasePermissions {
  // Every verb on every resource, as cluster-admin has.
  bool unlimited = false;
  // The critical rights of rbac::RiskyRights() that base has to all objects. It needs none of them:
  // "create serviceaccounts/token (acts as these ServiceAccounts) in namespace mandate-system".
  std::vector<std::string> excess;
};

// Asks the server for the permissions of base's user. `ns` is the manager's namespace. Errors:
// RestClient's. Blocks: not on the loop.
absl::StatusOr<BasePermissions> ReviewBasePermissions(const CallContext& context, RestClient& base,
                                                      std::string_view ns);

// kFailedPrecondition, with the next step, if `username` may do anything. `service_account`, of
// namespace `ns`, is the one to use.
absl::Status RejectUnlimited(const BasePermissions& permissions, std::string_view username,
                             std::string_view ns, std::string_view service_account);

}  // namespace mandate
