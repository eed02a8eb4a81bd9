// Replaces the hints of RBAC watches that do not work.
#pragma once

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "manager/access_hints.h"
#include "manager/cache/cache_view.h"
#include "manager/component.h"
#include "manager/core/clock.h"
#include "manager/core/log.h"

namespace mandate::access {

// Checks every 30 s whether the watches of RBAC objects are live. While one is not, for example
// because its objects are too large for its memory, changes may give no hints. So each time all
// components prove their access again, within their budgets. A watch that the API server denies
// does not count: an administrator who does not grant it wants no hints of that kind. For one
// thread at a time.
class WatchCheck {
 public:
  static constexpr absl::Duration kPeriod = absl::Seconds(30);

  // What `component` borrows outlives this.
  explicit WatchCheck(const Component& component);

  // Checks, if it is time. Returns when the next check is due.
  absl::Duration Run();

 private:
  // The reason why one of the watches is not live.
  absl::Status FindBroken() const;

  CacheView& cache_;
  AccessHints& hints_;
  const Clock& clock_;
  const Logger log_;
  absl::Time last_;
  bool broken_ = false;
};

}  // namespace mandate::access
