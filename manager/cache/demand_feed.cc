#include "manager/cache/demand_feed.h"

#include <utility>

namespace mandate {

DemandStatus DemandFeed::status() const {
  MutexLock lock(mutex_);
  return status_;
}

void DemandFeed::Attach(const ObjectStore& store, InitialEvents& initial,
                        const DemandStatus& status) {
  if (!attached_ && !paused_) {
    attached_ = true;
    if (const Content seen = std::exchange(seen_, nullptr); seen != nullptr) {
      Deliver(DiffObjects(*seen, store.List()));
    } else if (sink_ != nullptr) {
      Deliver(*initial.Get());
    }
  }
  SetStatus(status);
}

void DemandFeed::Deliver(const std::vector<ObjectEvent>& events) {
  if (!attached_ || sink_ == nullptr) return;
  for (const ObjectEvent& event : events) {
    // The sink may end the demand in any call.
    if (closed_) return;
    sink_->OnEvent(event);
  }
}

void DemandFeed::Detach(Content seen) {
  if (!attached_) return;
  attached_ = false;
  seen_ = std::move(seen);
}

void DemandFeed::Pause(Content seen) {
  paused_ = true;
  Detach(std::move(seen));
}

void DemandFeed::SetStatus(const DemandStatus& status) {
  {
    MutexLock lock(mutex_);
    const bool same = status_.state == status.state;
    status_ = status;
    if (same) return;
  }
  if (!closed_ && sink_ != nullptr) sink_->OnState(status);
}

}  // namespace mandate
