#include "manager/cache/demand_feed.h"

#include <utility>

namespace mandate {

DemandStatus DemandFeed::status() const {
  MutexLock lock(mutex_);
  return status_;
}

void DemandFeed::Attach(const ObjectStore& store, const DemandStatus& status) {
  if (!attached_) {
    attached_ = true;
    const bool initial = !std::exchange(synced_once_, true);
    const Content seen = std::exchange(seen_, nullptr);
    if (seen != nullptr) {
      std::vector<ObjectEvent> events = DiffObjects(*seen, store.List());
      for (ObjectEvent& event : events) event.initial = initial;
      Deliver(events);
    } else if (sink_ != nullptr) {
      ObjectEvent event{.object = nullptr, .old = nullptr, .initial = initial};
      for (ObjectPtr& object : store.List()) {
        if (closed_) break;
        event.object = std::move(object);
        sink_->OnEvent(event);
      }
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
