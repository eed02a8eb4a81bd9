// Which watches need not run, because a wider one delivers the same objects.
#pragma once

#include <optional>
#include <vector>

#include "absl/functional/function_ref.h"
#include "manager/cache/cache_view.h"

namespace mandate {

// The state of one watch, as the plan uses it. A component is identified by its address.
struct CoverageState {
  std::vector<const void*> demanding;  // components that demand its scope
  // Components for which it can begin to deliver narrower scopes: it runs and is synced, and they
  // have proved their access.
  std::vector<const void*> ready;
  // Components for which it can go on: it has been ready for them, and their access is not denied.
  // It may be down, as their own watches would be.
  std::vector<const void*> keeping;
};

// The scopes that contain this one, the widest first: the same objects and more. A selector is only
// contained in the same selector, and in none.
std::vector<DemandSpec> WiderScopes(const DemandSpec& scope);

// The widest scope whose watch delivers the objects of `narrow` for every component that demands
// them; none: it needs its own watch. One component without the wider access, or without a demand
// for it, is enough for that. `keeper` is the scope that does it now, if any; `wider` returns the
// state of a watch, if there is one.
std::optional<DemandSpec> PlanCoverage(
    const DemandSpec& narrow, const std::vector<const void*>& demanding,
    const std::optional<DemandSpec>& keeper,
    absl::FunctionRef<std::optional<CoverageState>(const DemandSpec&)> wider);

}  // namespace mandate
