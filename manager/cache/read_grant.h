// What one component may read of one scope right now.
#ifndef MANAGER_CACHE_READ_GRANT_H_
#define MANAGER_CACHE_READ_GRANT_H_

#include <memory>
#include <utility>
#include <vector>

#include "manager/cache/cache_view.h"
#include "manager/cache/index.h"
#include "manager/cache/store.h"
#include "manager/core/mutex.h"

namespace mandate {

// Held by the component's view, which reads it, and by its membership in the watch, which writes
// it. Thread-safe.
class ReadGrant {
 public:
  struct Reading {
    DemandStatus status;
    std::shared_ptr<const ObjectStore> store;  // only when synced
  };

  // What the component has declared for the kind.
  using Indexes = std::vector<std::shared_ptr<const IndexDefinition>>;

  explicit ReadGrant(DemandSpec spec, Indexes indexes = {})
      : spec_(std::move(spec)), indexes_(std::move(indexes)) {}

  const DemandSpec& spec() const { return spec_; }
  const Indexes& indexes() const { return indexes_; }

  // How many demands ask for it; with none it covers nothing.
  void Add() {
    MutexLock lock(mutex_);
    ++demands_;
  }
  void Release() {
    MutexLock lock(mutex_);
    --demands_;
  }
  int demands() const {
    MutexLock lock(mutex_);
    return demands_;
  }

  Reading Read() const {
    MutexLock lock(mutex_);
    return {status_, status_.state == DemandState::kSynced ? store_ : nullptr};
  }
  // Also while stale: what was last seen.
  std::shared_ptr<const ObjectStore> LastKnown() const {
    MutexLock lock(mutex_);
    const bool seen = status_.state == DemandState::kSynced || status_.state == DemandState::kStale;
    return seen ? store_ : nullptr;
  }
  // From here on reads are answered so.
  void Set(DemandStatus status, std::shared_ptr<const ObjectStore> store) {
    MutexLock lock(mutex_);
    status_ = std::move(status);
    store_ = std::move(store);
  }

 private:
  const DemandSpec spec_;
  const Indexes indexes_;
  mutable Mutex mutex_;
  int demands_ ABSL_GUARDED_BY(mutex_) = 0;
  DemandStatus status_ ABSL_GUARDED_BY(mutex_) = {DemandState::kPending,
                                                  absl::UnavailableError("not asked yet")};
  std::shared_ptr<const ObjectStore> store_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace mandate

#endif  // MANAGER_CACHE_READ_GRANT_H_
