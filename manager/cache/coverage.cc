#include "manager/cache/coverage.h"

#include <algorithm>

namespace mandate {

std::vector<DemandSpec> WiderScopes(const DemandSpec& scope) {
  std::vector<DemandSpec> wider;
  const auto add = [&](const std::string& ns, const std::string& labels) {
    DemandSpec spec = {scope.kind, ns, "", labels};
    if (spec != scope && std::ranges::find(wider, spec) == wider.end()) {
      wider.push_back(std::move(spec));
    }
  };
  add("", "");
  add("", scope.labels);
  add(scope.ns, "");
  return wider;
}

std::optional<DemandSpec> PlanCoverage(
    const DemandSpec& narrow, const std::vector<const void*>& demanding,
    const std::optional<DemandSpec>& keeper,
    absl::FunctionRef<std::optional<CoverageState>(const DemandSpec&)> wider) {
  if (demanding.empty()) return std::nullopt;
  for (DemandSpec& scope : WiderScopes(narrow)) {
    const std::optional<CoverageState> state = wider(scope);
    if (!state) continue;
    const auto& serves = scope == keeper ? state->keeping : state->ready;
    const bool all = std::ranges::all_of(demanding, [&](const void* component) {
      return std::ranges::find(serves, component) != serves.end();
    });
    if (all) return std::move(scope);
  }
  return std::nullopt;
}

}  // namespace mandate
