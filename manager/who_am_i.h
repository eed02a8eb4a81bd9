// Asks an API server whom it takes us for.
#ifndef MANAGER_WHO_AM_I_H_
#define MANAGER_WHO_AM_I_H_

#include "absl/status/statusor.h"
#include "manager/client/rest_client.h"
#include "manager/core/call_context.h"
#include "manager/rbac/user.h"

namespace mandate {

// SelfSubjectReview (KEP-3325): needs no grant. Retried within `context` while the server cannot be
// reached. Not on the loop.
absl::StatusOr<rbac::UserInfo> WhoAmI(const CallContext& context, RestClient& client);

}  // namespace mandate

#endif  // MANAGER_WHO_AM_I_H_
