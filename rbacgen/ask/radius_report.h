// Writes blast radii, and the difference of two, as text and as JSON.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "manager/object/json.h"
#include "rbacgen/ask/blast_radius.h"

namespace mandate::rbacgen {

// A table of the steps, and the rights of all reached identities together. Many ServiceAccounts of
// one namespace that are reached in the same way share a row; RadiusJson() lists each.
std::string RadiusText(const BlastRadius& radius);
Json::Value RadiusJson(const BlastRadius& radius);

// The rights that a change adds to a blast radius, and those that it removes.
struct RadiusDiff {
  bool everything_before = false, everything = false;
  std::vector<Step> added, removed;
  RightsByNamespace gained, lost;

  bool grew() const { return !added.empty() || !gained.empty(); }
  bool none() const { return !grew() && removed.empty() && lost.empty(); }
};

RadiusDiff DiffRadii(const BlastRadius& before, const BlastRadius& now);

// Lines that begin with `lead` and "+ " or "- "; "" when nothing differs.
std::string RadiusDiffText(std::string_view lead, const RadiusDiff& diff);
Json::Value RadiusDiffJson(const RadiusDiff& diff);

}  // namespace mandate::rbacgen
