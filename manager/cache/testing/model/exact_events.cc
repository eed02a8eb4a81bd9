#include "manager/cache/testing/model/exact_events.h"

#include "manager/core/strings.h"

namespace mandate::model {
namespace {

std::string ToString(const ModelSink::Events& events) {
  std::string text;
  for (const auto& [key, of_key] : events) StrAppend(&text, of_key);
  return text;
}

}  // namespace

ExactEvents::ExactEvents(ModelWorld& world) : world_(world) {
  for (const auto& demand : world.statics()) Add(*demand->component, demand->open->sink.get());
  for (const auto& component : world.components()) {
    for (const auto& [scope, open] : component.owners->open()) Add(component, open->sink.get());
  }
}

void ExactEvents::Add(const ModelWorld::Component& component, ModelSink* sink) {
  if (sink == nullptr || sink->frozen()) return;
  if (!world_.grants().Allows(component.name, sink->scope())) return;
  sink->TakeEvents();
  watched_.push_back({.sink = sink,
                      .who = StrCat(component.name, " \"", sink->scope().ToString(), "\""),
                      .reports = sink->reports(),
                      .has = sink->content(),
                      .expected = {}});
}

void ExactEvents::Expect(const ObjectKey& key) {
  const ObjectHistory::State* const now = world_.history().Now(key);
  for (Watched& watched : watched_) {
    const WatchScope& scope = watched.sink->scope();
    const bool had = watched.has.contains(key);
    const bool has = now != nullptr && scope.Covers(key) && Selects(scope.selector, now->labels);
    if (!had && !has) continue;
    const auto type = !has  ? ObjectEvent::Type::kDelete
                      : had ? ObjectEvent::Type::kUpdate
                            : ObjectEvent::Type::kAdd;
    if (has) {
      watched.has[key] = now->version;
    } else {
      watched.has.erase(key);
    }
    StrAppend(&watched.expected[key], " ", EventText(type, key, has ? now->version : 0));
  }
}

bool ExactEvents::IsRight(const Watched& watched) const {
  if (watched.sink->reports() == watched.reports) {
    return watched.sink->events() == watched.expected;
  }
  return watched.sink->status().state == DemandState::kSynced &&
         watched.sink->content() == world_.history().Of(watched.sink->scope());
}

bool ExactEvents::Complete() const {
  for (const Watched& watched : watched_) {
    if (!IsRight(watched)) return false;
  }
  return true;
}

int64_t ExactEvents::Check() {
  int64_t events = 0;
  for (const Watched& watched : watched_) {
    if (watched.sink->reports() == watched.reports) {
      events += static_cast<int64_t>(watched.expected.size());
    }
    if (!IsRight(watched)) {
      world_.violations().Add("I5", watched.who, " received", ToString(watched.sink->events()),
                              "; expected", ToString(watched.expected));
    }
    watched.sink->TakeEvents();
  }
  return events;
}

}  // namespace mandate::model
