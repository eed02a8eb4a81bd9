// Invariant I1 as a function: which streams should be open when nothing changes any more.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "manager/cache/testing/model/read_grants.h"
#include "manager/cache/testing/model/watch_scope.h"

namespace mandate::model {

struct ComponentDemand {
  std::string component;
  WatchScope scope;

  auto operator<=>(const ComponentDemand&) const = default;
};

struct StreamPolicy {
  // Whether a scope has no stream of its own while a wider one serves all components that demand
  // it.
  bool close_covered = false;
  // Whether a selector is part of the request. Otherwise the stream of the whole scope serves it.
  bool server_selectors = false;
};

// One stream for each scope that a component demands and may read, except for those that the policy
// closes.
std::set<WatchScope> ExpectedStreams(const std::vector<ComponentDemand>& demands,
                                     const ReadGrants& grants, const StreamPolicy& policy = {});

}  // namespace mandate::model
