// What the manager's own credential may do, which should be little.
#ifndef MANAGER_BASE_POWER_H_
#define MANAGER_BASE_POWER_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "manager/client/rest_client.h"
#include "manager/core/call_context.h"

namespace mandate {

struct BasePower {
  // Every verb on every resource, as cluster-admin has.
  bool anything = false;
  // With what else the manager's components, or others, could be taken over; none of it is needed:
  // "create serviceaccounts/token (of every ServiceAccount) in namespace mandate-system".
  std::vector<std::string> excess;
};

// Asks the server, with base's credential, what its user may do. `ns` is the manager's namespace.
// Errors: RestClient's; then nothing is known. Blocks: not on the loop.
absl::StatusOr<BasePower> AskBasePower(const CallContext& context, RestClient& base,
                                       std::string_view ns);

// kFailedPrecondition, with what to do instead, when it may do anything.
absl::Status RefuseAnything(const BasePower& power, std::string_view username, std::string_view ns);

}  // namespace mandate

#endif  // MANAGER_BASE_POWER_H_
