// The hints of a program's components to its cache.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "manager/access_hints.h"
#include "manager/cache/cache.h"
#include "manager/rbac/user.h"

namespace mandate {

class ComponentHints : public AccessHints {
 public:
  explicit ComponentHints(Cache& cache) : cache_(cache) {}  // outlives the last call

  // Before the first hint. A component whose user is not a ServiceAccount gets no hints.
  void Add(std::string_view component, std::string_view username);

  std::vector<std::string> ComponentsOf(const std::vector<rbac::Subject>& subjects,
                                        std::string_view binding_ns) const override;
  void RecheckAccess(std::string_view component, std::string_view ns) override;
  void RecheckAll(absl::Time until) override;

 private:
  Cache& cache_;
  std::vector<std::pair<std::string, rbac::UserInfo>> users_;
};

}  // namespace mandate
