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
  std::set<WatchScope> streams;
  for (const ComponentDemand& demand : wanted) {
    if (grants.Allows(demand.component, demand.scope)) streams.insert(demand.scope);
  }
  if (!policy.close_covered) return streams;
  // Whether one wider stream serves every component that demands this scope, with access or not.
  const auto is_served_by = [&](const WatchScope& wide, const WatchScope& narrow) {
    return std::ranges::all_of(wanted, [&](const ComponentDemand& demand) {
      return demand.scope != narrow ||
             (wanted.contains({demand.component, wide}) && grants.Allows(demand.component, wide));
    });
  };
  const std::set<WatchScope> all = streams;
  std::erase_if(streams, [&](const WatchScope& narrow) {
    return std::ranges::any_of(all, [&](const WatchScope& wide) {
      return wide != narrow && wide.Contains(narrow) && is_served_by(wide, narrow);
    });
  });
  return streams;
}

}  // namespace mandate::model
