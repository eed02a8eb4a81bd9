#include "manager/controller/event_mapper.h"

#include <utility>
#include <variant>

namespace mandate {
namespace {

// A slice ends at the first of these limits, so that other tasks of the strand get a turn.
constexpr absl::Duration kSlice = absl::Milliseconds(1);
constexpr int kMaxOfASlice = 256;
// The number of events that are taken from the backlog at once.
constexpr size_t kTake = 64;

bool IsResync(const ObjectEvent& event) {
  return event.type == ObjectEvent::Type::kUpdate && event.old != nullptr &&
         event.old->resource_version() == event.object->resource_version();
}

int PriorityOf(const ObjectEvent& event, bool is_reconciled) {
  if (event.initial || IsResync(event)) return kLowPriority;
  return is_reconciled ? kHighPriority : kDefaultPriority;
}

}  // namespace

EventMapper::EventMapper(Options options)
    : options_(std::move(options)),
      backlog_(options_.max_events),
      listed_(options_.sources.size(), false),
      unlisted_(options_.sources.size()),
      purged_(options_.sources.size()) {}

bool EventMapper::OnEvent(size_t source, const ObjectEvent& event) {
  backlog_.Push({source, event});
  return Wake();
}

bool EventMapper::OnListed(size_t source) {
  backlog_.Push({source, Backlog::Listed()});
  return Wake();
}

bool EventMapper::OnPurged(size_t source, Backlog::Purged objects) {
  backlog_.Push({source, std::move(objects)});
  return Wake();
}

bool EventMapper::Resync() {
  resync_wanted_ = true;
  return Wake();
}

bool EventMapper::OnQueueHasRoom() {
  has_capacity_ = true;
  return Wake();
}

void EventMapper::Close() {
  closed_ = true;
  backlog_.Clear();
}

EventMapper::Slice EventMapper::RunSlice() {
  Slice slice;
  mapping_ = true;
  absl::Time now = options_.clock->TimeNow();
  const absl::Time end = now + kSlice;
  bool idle = false;
  for (int i = 0; i < kMaxOfASlice && !idle && now < end; ++i) {
    idle = !RunOne(now, slice);
  }
  mapping_ = false;
  if (std::exchange(wake_more_, false)) options_.workers->WakeAsNeeded();
  slice.more = !idle;
  if (idle) {
    scheduled_ = false;
    slice.more = HasWork() && Wake();
  }
  if (closed_) slice.more = false;
  return slice;
}

bool EventMapper::RunOne(absl::Time& now, Slice& slice) {
  if (closed_) return false;
  if (next_ == taken_.size()) {
    taken_.clear();
    next_ = 0;
    backlog_.Take(kTake, taken_);
  }
  if (next_ < taken_.size()) {
    Take(std::move(taken_[next_++]), now, slice);
    return true;
  }
  StartPass();
  if (!in_pass_) return false;
  if (!held_.empty()) {
    if (!has_capacity_.exchange(false)) return false;
    now = options_.clock->TimeNow();
    Enqueue(std::exchange(held_, {}), kLowPriority, /*of_pass=*/true, now);
    wake_more_ = true;
    return true;
  }
  if (!lost_.empty()) {
    Enqueue(std::exchange(lost_, {}), kLowPriority, /*of_pass=*/true, now);
    wake_more_ = true;
    return true;
  }
  size_t source;
  ObjectEvent event;
  if (NextOfPass(source, event)) {
    Map(source, event, /*of_pass=*/true, now);
  } else {
    EndPass();
  }
  return true;
}

void EventMapper::Take(Backlog::Item item, absl::Time& now, Slice& slice) {
  if (const auto* event = std::get_if<ObjectEvent>(&item.what)) {
    return Map(item.source, *event, /*of_pass=*/false, now);
  }
  auto* const purged = std::get_if<Backlog::Purged>(&item.what);
  if (purged == nullptr) return OnListedHere(item.source, slice);
  // One object at a time; the others follow before all that came later.
  if (purged->empty()) return;
  MapHere(item.source, {ObjectEvent::Type::kDelete, std::move(purged->back()), nullptr});
  purged_[item.source].insert(requests_.begin(), requests_.end());
  purged->pop_back();
  now = options_.clock->TimeNow();
  taken_[--next_] = std::move(item);
}

void EventMapper::OnListedHere(size_t source, Slice& slice) {
  if (const auto purged = std::exchange(purged_[source], {}); !purged.empty()) {
    lost_.insert(lost_.end(), purged.begin(), purged.end());
  }
  if (listed_[source]) return;
  listed_[source] = true;
  if (--unlisted_ == 0) slice.listed = true;
}

void EventMapper::StartPass() {
  if (in_pass_ && pass_was_rejected_) return;
  if (!resync_wanted_.exchange(false)) {
    if (in_pass_ || !missed_ || !has_capacity_.exchange(false)) return;
  }
  in_pass_ = true;
  missed_ = false;
  pass_source_ = pass_object_ = 0;
  pass_objects_.clear();
}

void EventMapper::EndPass() {
  in_pass_ = pass_was_rejected_ = false;
  if (missed_ || !refilling_) return;
  refilling_ = false;
  options_.log.Info("Work queue has capacity again; the rejected requests were queued");
}

bool EventMapper::NextOfPass(size_t& source, ObjectEvent& event) {
  while (true) {
    if (pass_object_ < pass_objects_.size()) {
      source = pass_source_ - 1;
      event = {ObjectEvent::Type::kAdd, std::move(pass_objects_[pass_object_++]), nullptr,
               /*initial=*/true};
      return true;
    }
    pass_objects_.clear();
    pass_object_ = 0;
    if (pass_source_ == options_.sources.size()) return false;
    const DemandSpec& demand = options_.sources[pass_source_++].demand;
    if (demand.name.empty()) {
      pass_objects_ = options_.cache->ListLastKnown(demand.kind, demand.ns);
    } else if (auto object = options_.cache->GetLastKnown(demand.kind, {demand.ns, demand.name})) {
      pass_objects_.push_back(std::move(object));
    }
  }
}

void EventMapper::Map(size_t source, const ObjectEvent& event, bool of_pass, absl::Time& now) {
  MapHere(source, event);
  now = options_.clock->TimeNow();
  if (requests_.empty()) return;
  Enqueue(requests_, PriorityOf(event, options_.sources[source].is_primary), of_pass, now);
  // WakeFirst() wakes one worker only, so several requests need WakeAsNeeded().
  wake_more_ = requests_.size() > 1 || !options_.workers->WakeFirst() || wake_more_;
}

void EventMapper::MapHere(size_t source, const ObjectEvent& event) {
  requests_.clear();
  const Source& of = options_.sources[source];
  const absl::Status status = MapEvent(of, event, requests_);
  if (status.ok()) return;
  options_.metrics->event_errors.Increment();
  options_.log.Error("An event cannot be mapped to requests", {{"source", of.demand.ToString()},
                                                               {"namespace", event.object->ns()},
                                                               {"name", event.object->name()},
                                                               {"error", status}});
}

void EventMapper::Enqueue(const std::vector<Request>& requests, int priority, bool of_pass,
                          absl::Time now) {
  bool rejected = false;
  for (const Request& request : requests) {
    if (options_.queue->Add(request, {.priority = priority}, now)) continue;
    rejected = true;
    if (of_pass) held_.push_back(request);
  }
  if (!rejected) return;
  has_capacity_ = false;
  (of_pass ? pass_was_rejected_ : missed_) = true;
  if (refilling_.exchange(true)) return;
  options_.log.Error("Work queue is full; rejected requests will be queued when it has capacity",
                     {{"limit", options_.max_requests}});
}

}  // namespace mandate
