// How the requests of components are authenticated.
#ifndef MANAGER_IDENTITY_IDENTITY_MODE_H_
#define MANAGER_IDENTITY_IDENTITY_MODE_H_

#include <string_view>

#include "absl/status/statusor.h"

namespace mandate {

enum class IdentityMode {
  // Each component has tokens of its own ServiceAccount, minted by base.
  kToken,
  // Each request is base's, impersonating the component's ServiceAccount: base needs to be allowed
  // to (client/preflight_impersonation.h). No tokens; the audit log shows both. What base may do
  // is not tied to the component that it does it as (docs/identity.md).
  kImpersonate,
  // Each request is base's, told apart by user agent only: for clusters without RBAC.
  kSingle,
};

// "token", "impersonate", "single"; kInvalidArgument otherwise.
absl::StatusOr<IdentityMode> ParseIdentityMode(std::string_view text);

}  // namespace mandate

#endif  // MANAGER_IDENTITY_IDENTITY_MODE_H_
