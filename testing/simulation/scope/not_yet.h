// Scenarios that are switched off because the product does not handle them yet.
#pragma once

#include <set>
#include <string>

namespace mandate::simulation {

// A failed template keeps only grants of its own roles, not those of the instance's former
// template.
inline constexpr char kLeavesOnlyItsOwn[] = "model: a failed template leaves only its own grants";

// By the names of Troubles::Kinds(), Strangers::Kinds() and Author::Kinds().
inline const std::set<std::string>& NotYet() {
  static const auto& names = *new std::set<std::string>{};
  return names;
}

}  // namespace mandate::simulation
