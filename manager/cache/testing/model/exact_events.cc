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
                      .expected = {}});
}

void ExactEvents::Expect(ObjectEvent::Type type, const ObjectKey& key) {
  for (Watched& watched : watched_) {
    if (!watched.sink->scope().Covers(key)) continue;
    StrAppend(&watched.expected[key], " ", EventText(type, key, world_.history().version()));
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
