// Hints that the permissions of components have changed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "manager/rbac/policy.h"

namespace mandate {

// How a component that learns of changes of RBAC tells the caches of all. A hint makes the cache
// ask the API server earlier, within the budget of each component; it decides nothing. Thread-safe;
// returns at once.
class AccessHints {
 public:
  virtual ~AccessHints() = default;
  // The components of this process whose user is one of the subjects, or in one of them.
  // `binding_ns`: of the RoleBinding; empty: of a ClusterRoleBinding.
  virtual std::vector<std::string> ComponentsOf(const std::vector<rbac::Subject>& subjects,
                                                std::string_view binding_ns) const = 0;
  // `ns` empty: everywhere.
  virtual void RecheckAccess(std::string_view component, std::string_view ns) = 0;
  // Any component's permissions may have changed, unseen, before `until`.
  virtual void RecheckAll(absl::Time until) = 0;
};

}  // namespace mandate
