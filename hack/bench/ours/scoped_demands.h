// A DemandSet without a controller, whose streams can be awaited.
#pragma once

#include <vector>

#include "hack/bench/ours/rig.h"
#include "hack/bench/ours/scoped_workloads.h"
#include "manager/controller/demand_set.h"
#include "manager/core/mutex.h"
#include "manager/core/thread_pool.h"

namespace mandate::bench {

// For one thread. `rig` outlives it.
class ScopedDemands {
 public:
  explicit ScopedDemands(Rig& rig);
  ~ScopedDemands();

  DemandSet& set() { return set_; }
  void Replace(const OwnedDemands& owned) { set_.Replace(owned.owner, owned.demands); }
  // Calls Replace() for each, and waits until their streams are synced.
  void ReplaceAndSync(const std::vector<OwnedDemands>& workload);

 private:
  void OnRequests();

  Rig& rig_;
  Mutex mutex_;
  Latch* synced_ ABSL_GUARDED_BY(mutex_) = nullptr;
  std::vector<DemandSpec> pending_ ABSL_GUARDED_BY(mutex_);
  ThreadPool pool_;
  DemandSet set_;
};

}  // namespace mandate::bench
