#include "hack/bench/ours/scoped_demands.h"

#include "manager/loop_call.h"

namespace mandate::bench {

ScopedDemands::ScopedDemands(Rig& rig)
    : rig_(rig),
      pool_(1),
      set_({rig.name(0), rig.loop(), pool_, rig.view(0), rig.metrics(), Logger(), 1}) {
  set_.Connect("bench", [this](const std::vector<Request>&) { OnRequests(); });
}

ScopedDemands::~ScopedDemands() {
  set_.Close();
  // A call of OnRequests() may be under way on the loop.
  CallOnLoop(rig_.loop(), [] {});
}

void ScopedDemands::ReplaceAndSync(const std::vector<OwnedDemands>& workload) {
  Latch synced;
  {
    MutexLock lock(mutex_);
    pending_ = StreamsOf(workload);
    synced_ = &synced;
  }
  for (const OwnedDemands& owned : workload) Replace(owned);
  OnRequests();  // they may all be synced already
  synced.Wait();
}

// A stream that becomes synced is a request for each of its owners, so the last one ends the wait.
void ScopedDemands::OnRequests() {
  MutexLock lock(mutex_);
  if (synced_ == nullptr) return;
  while (!pending_.empty()) {
    const auto status = set_.StatusOf(pending_.back());
    if (!status || status->state != DemandState::kSynced) return;
    pending_.pop_back();
  }
  synced_->Set();
  synced_ = nullptr;
}

}  // namespace mandate::bench
