// Waits until the API server's authorizer knows the roles and bindings that were written: a real
// server reads them from its own watches, a moment later.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "manager/client/self_review.h"
#include "manager/rbac/mandate.h"
#include "testing/environment/administrator.h"

namespace mandate {

struct ExpectedAccess {
  AccessQuestion question;
  bool allowed = true;
};

// For each permission of `declared`: whether `granted`, a part of it, has it. Not for external
// rules, and what they permit. `ns` replaces rbac::kManagerNamespace.
std::vector<ExpectedAccess> ExpectedAccessOf(const rbac::Mandate& declared,
                                             const rbac::Mandate& granted, const std::string& ns);

// For each external rule of `declared` that no other rule covers: whether a grant in namespace
// `where.ns` (empty: in the cluster), or of the object `where.name` alone, permits it, or permits
// it no more.
std::vector<ExpectedAccess> ExpectedExternalAccessOf(const rbac::Mandate& declared,
                                                     const ObjectKey& where, bool allowed);

// Asks about `user` until each answer is as expected. kDeadlineExceeded names one that is not.
absl::Status AwaitAccess(Administrator& administrator, absl::Duration patience,
                         const std::string& user, const std::vector<ExpectedAccess>& expected);

}  // namespace mandate
