#include "manager/cache/demand_feed.h"

#include <utility>

namespace mandate {

DemandStatus DemandFeed::status() const {
  MutexLock lock(mutex_);
  return status_;
}

void DemandFeed::Attach(const std::shared_ptr<const Source>& source, const DemandStatus& status) {
  if (source_ == nullptr && !paused_) {
    source_ = source;
    cursor_ = nullptr;
    catching_up_ = sink_ != nullptr;
    if (catching_up_) {
      // It is delivered at the end, which may come in this call.
      waiting_ = status;
      return DeliverSlices();
    }
  }
  SetStatus(status);
}

void DemandFeed::Deliver(const std::vector<ObjectEvent>& events) {
  if (source_ == nullptr || sink_ == nullptr) return;
  for (const ObjectEvent& event : events) {
    const bool behind = catching_up_ && (cursor_ == nullptr || ObjectLess()(cursor_, event.object));
    if (!behind) DeliverEvent(event);
  }
}

void DemandFeed::CatchUp(const Content& before) {
  if (source_ == nullptr || sink_ == nullptr) return;
  seen_ = DeliveredContent(before);
  cursor_ = nullptr;
  catching_up_ = true;
  DeliverLater();
}

void DemandFeed::Detach(const Content& held) {
  if (source_ == nullptr) return;
  seen_ = DeliveredContent(held);
  cursor_ = nullptr;
  catching_up_ = false;
  waiting_.reset();
  source_ = nullptr;
}

void DemandFeed::Purge(const Content& held) {
  Detach(held);
  const Content seen = std::exchange(seen_, nullptr);
  if (seen == nullptr || seen->empty() || closed_ || sink_ == nullptr) return;
  std::vector<ObjectPtr> objects;
  objects.reserve(seen->size());
  for (const ObjectSlot& slot : *seen) objects.push_back(slot.object);
  sink_->OnPurged(objects);
}

void DemandFeed::Pause(const Content& held) {
  paused_ = true;
  Detach(held);
}

DemandFeed::Content DemandFeed::DeliveredContent(const Content& held) const {
  if (!catching_up_) return held;
  if (cursor_ == nullptr) return seen_;
  auto told = std::make_shared<ObjectSet>(held->begin(), held->upper_bound(cursor_));
  if (seen_ != nullptr) told->insert(seen_->upper_bound(cursor_), seen_->end());
  return told;
}

void DemandFeed::DeliverLater() {
  if (std::exchange(turn_is_due_, true)) return;
  source_->loop.Post([weak = weak_from_this()] {
    const auto self = weak.lock();
    if (self == nullptr) return;
    self->turn_is_due_ = false;
    if (self->catching_up_) self->DeliverSlices();
  });
}

void DemandFeed::DeliverSlices() {
  if (closed_) return;
  source_->slices.Increment();
  if (DeliverSlice()) return DeliverLater();
  catching_up_ = false;
  complete_once_ = true;
  seen_ = nullptr;
  cursor_ = nullptr;
  if (waiting_) DeliverStatus(*std::exchange(waiting_, std::nullopt));
}

bool DemandFeed::DeliverSlice() {
  const ObjectLess less;
  const std::vector<ObjectPtr> now = source_->store->ListAfter(cursor_, source_->slice);
  // The store may have more objects after these. Objects that were seen after them are compared
  // later.
  const bool whole = now.size() < source_->slice;
  const ObjectSet nothing;
  const ObjectSet& seen = seen_ != nullptr ? *seen_ : nothing;
  auto old = cursor_ == nullptr ? seen.begin() : seen.upper_bound(cursor_);
  auto next = now.begin();
  std::vector<ObjectEvent> events;
  for (size_t looked = 0; looked < source_->slice; ++looked) {
    const bool has_old = old != seen.end();
    if (next == now.end() && (!whole || !has_old)) break;
    events.clear();
    if (next == now.end() || (has_old && less(*old, *next))) {
      cursor_ = (old++)->object;
      AppendChange(cursor_, nullptr, events);
    } else if (!has_old || less(*next, *old)) {
      cursor_ = *next++;
      AppendChange(nullptr, cursor_, events);
      events.back().initial = !complete_once_;
    } else {
      cursor_ = *next++;
      AppendChange((old++)->object, cursor_, events);
    }
    for (const ObjectEvent& event : events) DeliverEvent(event);
  }
  return next != now.end() || !whole || old != seen.end();
}

void DemandFeed::DeliverEvent(const ObjectEvent& event) {
  // The sink may end the demand in any call.
  if (!closed_) sink_->OnEvent(event);
}

void DemandFeed::SetStatus(const DemandStatus& status) {
  waiting_.reset();
  const bool is_behind = catching_up_ || (paused_ && sink_ != nullptr && !complete_once_);
  if (is_behind && status.state == DemandState::kSynced) {
    waiting_ = status;
    // The denial has ended. The sink gets kSynced later, after the objects.
    const DemandState told = this->status().state;
    if (told == DemandState::kForbidden || told == DemandState::kKindAbsent) {
      DeliverStatus(
          {DemandState::kPending, absl::UnavailableError("the objects are not all delivered yet")});
    }
  } else {
    DeliverStatus(status);
  }
}

void DemandFeed::DeliverStatus(const DemandStatus& status) {
  {
    MutexLock lock(mutex_);
    const bool known = status.EqualsIgnoringText(status_);
    status_ = status;
    if (known) return;
  }
  if (!closed_ && sink_ != nullptr) sink_->OnState(status);
}

}  // namespace mandate
