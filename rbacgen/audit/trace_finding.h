// The kinds of findings of a trace, by stable names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mandate::rbacgen {

// A kind of findings, as reports, --fail-on and docs/rbacgen.md name it.
struct TraceFindingKind {
  const char* name;
  const char* severity;  // high, medium or low
  const char* says;
  const char* next;  // the next step
};
// Immutable, in the order of the documentation.
const std::vector<TraceFindingKind>& TraceFindingKinds();

struct TraceFinding {
  std::string kind;  // of TraceFindingKinds()
  std::string text;  // the thing and the reason
};

// The kind with this name, which must exist.
const TraceFindingKind& KindOf(std::string_view name);

}  // namespace mandate::rbacgen
