// The ways to authenticate the requests of components.
#pragma once

#include <string_view>

#include "absl/status/statusor.h"

namespace mandate {

enum class IdentityMode {
  // Each component has tokens of its own ServiceAccount. Base requests them.
  kToken,
  // Base sends each request and impersonates the component's ServiceAccount. Base needs the
  // permission to impersonate (rbac/impersonation.h; preflight.h checks it). There are no tokens,
  // and the audit log shows both names. The permissions of base are the same for each component for
  // which it acts (docs/identity.md).
  kImpersonate,
  // Base sends each request; only the user agent names the component. For clusters without RBAC.
  kSingle,
};

// "token", "impersonate" or "single"; otherwise kInvalidArgument.
absl::StatusOr<IdentityMode> ParseIdentityMode(std::string_view text);

}  // namespace mandate
