#include "manager/cache/testing/model/expected_streams.h"

#include <algorithm>

namespace mandate::model {

std::set<WatchScope> ExpectedStreams(const std::vector<ComponentDemand>& demands,
                                     const ReadGrants& grants, const StreamPolicy& policy) {
  std::set<ComponentDemand> wanted;
  for (ComponentDemand demand : demands) {
    if (!policy.server_selectors) demand.scope = demand.scope.WithoutSelector();
    wanted.insert(std::move(demand));
  }
  const auto is_served_by_a_wider_one = [&](const ComponentDemand& narrow) {
    return std::ranges::any_of(wanted, [&](const ComponentDemand& wide) {
      return wide.component == narrow.component && wide.scope != narrow.scope &&
             wide.scope.Contains(narrow.scope) && grants.Allows(wide.component, wide.scope);
    });
  };
  std::set<WatchScope> streams;
  for (const ComponentDemand& demand : wanted) {
    if (grants.Allows(demand.component, demand.scope)) streams.insert(demand.scope);
  }
  if (!policy.close_covered) return streams;
  std::set<WatchScope> needed;
  for (const ComponentDemand& demand : wanted) {
    if (!is_served_by_a_wider_one(demand)) needed.insert(demand.scope);
  }
  std::erase_if(streams, [&](const WatchScope& scope) { return !needed.contains(scope); });
  return streams;
}

}  // namespace mandate::model
