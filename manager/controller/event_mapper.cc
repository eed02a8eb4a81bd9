#include "manager/controller/event_mapper.h"

#include <utility>

namespace mandate {
namespace {

// What a slice ends after, whichever comes first: others of the strand have
// their turn then.
constexpr absl::Duration kSlice = absl::Milliseconds(1);
constexpr int kMaxOfASlice = 256;
// Events that are taken from the backlog at once.
constexpr size_t kTake = 64;

bool IsResync(const ObjectEvent& event) {
  return event.type == ObjectEvent::Type::kUpdate && event.old != nullptr &&
         event.old->resource_version() == event.object->resource_version();
}

}  // namespace

EventMapper::EventMapper(Options options)
    : options_(std::move(options)),
      backlog_(options_.max_events),
      listed_(options_.sources.size(), false),
      unlisted_(options_.sources.size()) {}

bool EventMapper::OnEvent(size_t source, const ObjectEvent& event) {
  backlog_.Push({source, event});
  return Wake();
}

bool EventMapper::OnListed(size_t source) {
  backlog_.Push({source, std::nullopt});
  return Wake();
}

bool EventMapper::Replay() {
  replay_wanted_ = true;
  return Wake();
}

bool EventMapper::Refill() {
  part_wanted_ = true;
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
  if (std::exchange(pump_, false)) options_.workers->Pump();
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
    const Backlog::Item item = std::move(taken_[next_++]);
    if (item.event.has_value()) {
      Map(item.source, *item.event, /*part=*/false, now);
    } else {
      OnListedHere(item.source, slice);
    }
    return true;
  }
  StartPass();
  size_t source;
  ObjectEvent event;
  if (!NextOfPass(source, event)) return false;
  Map(source, event, pass_ == Pass::kPart, now);
  return true;
}

void EventMapper::OnListedHere(size_t source, Slice& slice) {
  if (listed_[source]) return;
  listed_[source] = true;
  if (--unlisted_ == 0) slice.listed = true;
}

void EventMapper::StartPass() {
  if (pass_ != Pass::kPart && replay_wanted_.exchange(false)) {  // another replay begins anew
    pass_ = Pass::kReplay;
  } else if (pass_ == Pass::kNone && part_wanted_.exchange(false)) {
    if (!refill_.active()) return;
    if (!refill_.NextPart()) {
      refilling_ = false;
      options_.log.Info("Work queue has room again; what it refused was queued");
      return;
    }
    pass_ = Pass::kPart;
  } else {
    return;
  }
  pass_source_ = pass_object_ = 0;
  pass_objects_.clear();
}

bool EventMapper::NextOfPass(size_t& source, ObjectEvent& event) {
  if (pass_ == Pass::kNone) return false;
  while (true) {
    if (pass_object_ < pass_objects_.size()) {
      source = pass_source_ - 1;
      event = {ObjectEvent::Type::kAdd, std::move(pass_objects_[pass_object_++]), nullptr,
               /*initial=*/true};
      return true;
    }
    pass_objects_.clear();
    pass_object_ = 0;
    if (pass_source_ == options_.sources.size()) {
      // Whoever asked for the next part in the meantime did not know that this one fills the queue.
      if (pass_ == Pass::kPart) part_wanted_ = false;
      pass_ = Pass::kNone;
      return false;
    }
    const DemandSpec& demand = options_.sources[pass_source_++].demand;
    if (demand.name.empty()) {
      pass_objects_ = options_.cache->ListLastKnown(demand.kind, demand.ns);
    } else if (auto object = options_.cache->GetLastKnown(demand.kind, {demand.ns, demand.name})) {
      pass_objects_.push_back(std::move(object));
    }
  }
}

void EventMapper::Map(size_t source, const ObjectEvent& event, bool part, absl::Time& now) {
  requests_.clear();
  const Source& of = options_.sources[source];
  if (absl::Status status = Handle(of, event, requests_); !status.ok()) {
    options_.metrics->event_errors.Increment();
    options_.log.Error("Cannot tell what to reconcile because of an object",
                       {{"source", of.demand.ToString()},
                        {"namespace", event.object->ns()},
                        {"name", event.object->name()},
                        {"error", status}});
  }
  now = options_.clock->TimeNow();
  if (requests_.empty()) return;
  const int priority = event.initial || IsResync(event) ? kLowPriority : kDefaultPriority;
  for (const Request& request : requests_) {
    if (part && !refill_.Wants(request)) continue;
    if (options_.queue->Add(request, {.priority = priority}, now)) continue;
    if (!refill_.active()) {
      options_.log.Error(
          "Work queue is full; what it refuses will be queued "
          "when there is room",
          {{"limit", options_.max_requests}});
    }
    refill_.OnRefused();
    refilling_ = true;
  }
  // WakeFirst() would leave all requests of the event to one worker.
  pump_ = requests_.size() > 1 || !options_.workers->WakeFirst() || pump_;
}

}  // namespace mandate
