// The rights that each identity gains and loses between two worlds.
#pragma once

#include <string>
#include <vector>

#include "rbacgen/world/rights.h"
#include "rbacgen/world/world.h"

namespace mandate::rbacgen {

struct IdentityDiff {
  std::string title;
  enum class Kind { kNew, kGone, kChanged } kind = Kind::kChanged;
  // Rights from bindings that name the identity or, for a ServiceAccount, one of its groups;
  // without the rights that every cluster gives all users.
  RightsByNamespace gained, lost;
  // Rights from markers with granted=external.
  RightsByNamespace gained_later, lost_later;
};

// The subjects of SubjectsToCompare() whose rights differ. If one side has no external markers, for
// example because it is a cluster, external rights are not compared.
std::vector<IdentityDiff> DiffWorlds(const World& before, const World& now);

// The differences as text: "scope-instance", then "  + may get pods", "  - may no longer …".
std::string DiffText(const std::vector<IdentityDiff>& diffs);
std::string DiffJson(const std::vector<IdentityDiff>& diffs);

}  // namespace mandate::rbacgen
