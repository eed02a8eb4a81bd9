// The check against privilege escalation: a user can grant only permissions that the user has
// (k8s.io/kubernetes pkg/registry/rbac).
#pragma once

#include "absl/status/status.h"
#include "manager/rbac/authorizer.h"
#include "testing/apiserver/plugin.h"

namespace mandate::apiserver {

// OK for a write of any resource other than roles and bindings. Codes and messages of the errors
// are the real server's.
absl::Status CheckEscalation(const rbac::Authorizer& authorizer, const WriteAttributes& write);

}  // namespace mandate::apiserver
