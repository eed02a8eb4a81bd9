// Which component may list and watch what, and since when it may not.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "manager/cache/testing/model/watch_scope.h"

namespace mandate::model {

class ReadGrants {
 public:
  void Grant(const std::string& component, const WatchScope& scope) {
    granted_.emplace(component, scope);
    std::erase_if(lost_, [&](const auto& lost) {
      return lost.first.first == component && Allows(component, lost.first.second);
    });
  }
  // `scopes`: those for which the time of a loss matters.
  void Revoke(const std::string& component, const WatchScope& scope, absl::Time now,
              const std::vector<WatchScope>& scopes) {
    granted_.erase({component, scope});
    for (const WatchScope& lost : scopes) {
      if (!Allows(component, lost)) lost_.try_emplace({component, lost}, now);
    }
  }

  // A grant for a scope is one for everything in it.
  bool Allows(const std::string& component, const WatchScope& scope) const {
    for (const auto& [of, granted] : granted_) {
      if (of == component && granted.Contains(scope)) return true;
    }
    return false;
  }
  // The infinite future: it is allowed now, or was never lost.
  absl::Time LostAt(const std::string& component, const WatchScope& scope) const {
    const auto found = lost_.find({component, scope});
    return found == lost_.end() ? absl::InfiniteFuture() : found->second;
  }

 private:
  using Key = std::pair<std::string, WatchScope>;
  std::set<Key> granted_;
  std::map<Key, absl::Time> lost_;
};

}  // namespace mandate::model
