#include "manager/base_name.h"

#include <algorithm>

namespace mandate {

std::string BaseName(const rbac::Mandate& base) {
  for (const auto& [rule, ns, external] : base.rules) {
    const bool is_lease = std::ranges::count(rule.resources, "leases") > 0;
    if (is_lease && !rule.resource_names.empty()) return std::string(rule.resource_names[0]);
  }
  return "mandate-manager";
}

}  // namespace mandate
