#include "manager/cache/testing/model/calm_checks.h"

#include <map>
#include <set>

#include "manager/cache/testing/model/expected_streams.h"
#include "manager/core/strings.h"

namespace mandate::model {
namespace {

using Component = ScopedWorld::Component;

std::string ClassOf(const WatchScope& scope) {
  if (!scope.name.empty()) return "object";
  return scope.ns.empty() ? "cluster" : "namespace";
}

std::string ToString(const std::set<WatchScope>& scopes) {
  std::string text;
  for (const WatchScope& scope : scopes) {
    StrAppend(&text, text.empty() ? "" : " ", "\"", scope.ToString(), "\"");
  }
  return StrCat("{", text, "}");
}

}  // namespace

double CalmChecks::Gauge(const std::string& name, const Labels& labels) {
  return world_.metrics().Gauge(name, "", labels).Value();
}

void CalmChecks::CheckState(Totals& totals) {
  CheckStreams(totals);
  CheckAllDemands(nullptr, totals);
  CheckReads();
}

void CalmChecks::CheckStreams(Totals& totals) {
  const std::set<WatchScope> expected =
      ExpectedStreams(world_.Demands(), world_.grants(), {.close_covered = world_.covers()});
  std::set<WatchScope> open;
  for (Component& component : world_.components()) {
    for (const auto& watch : component.client->open_watches()) {
      if (watch->renews) continue;
      open.insert(watch->scope);
      if (!world_.grants().Allows(component.name, watch->scope)) {
        world_.violations().Add("I1", component.name, " watches \"", watch->scope.ToString(),
                                "\", which it may not read");
      }
    }
  }
  totals.streams += static_cast<int64_t>(open.size());
  totals.covered += static_cast<int64_t>(
      Gauge("mandate_cache_covered_scopes", {{"kind", "widgets.example.com"}}));
  if (open != expected) {
    world_.violations().Add("I1", "the open streams are ", ToString(open), ", not ",
                            ToString(expected));
  }
  std::map<std::string, size_t> objects = {{"cluster", 0}, {"namespace", 0}, {"object", 0}};
  for (const WatchScope& scope : expected) {
    objects[ClassOf(scope)] += world_.history().Of(scope).size();
  }
  for (const auto& [scopes, count] : objects) {
    const double held =
        Gauge("mandate_cache_objects", {{"kind", "widgets.example.com"}, {"scope", scopes}});
    if (held != static_cast<double>(count)) {
      world_.violations().Add("I3", "the stores of scope ", scopes, " have ", held,
                              " objects, not ", count);
    }
  }
}

void CalmChecks::CheckDemand(const std::string& who, const Component& component,
                             const WatchScope& scope, const DemandStatus& status,
                             const ModelSink* sink, Totals& totals) {
  const bool allowed = world_.grants().Allows(component.name, scope);
  const bool paused = sink != nullptr && sink->frozen();
  const DemandState state = allowed ? DemandState::kSynced : DemandState::kForbidden;
  ++(allowed ? totals.synced : totals.forbidden);
  // The first kSynced of a paused demand waits for its events.
  if (status.state != state && !paused) {
    world_.violations().Add("I7", who, " is ", mandate::ToString(status.state), ", not ",
                            mandate::ToString(state), ": ", AsStd(status.reason.message()));
  }
  if (sink == nullptr || paused) return;
  const Content content = allowed ? world_.history().Of(scope) : Content();
  if (sink->content() != content) {
    world_.violations().Add("I5", who, " knows ", model::ToString(sink->content()),
                            "; the server has ", model::ToString(content));
  }
}

void CalmChecks::CheckAllDemands(const Component* except, Totals& totals) {
  for (const auto& demand : world_.statics()) {
    if (demand->component == except) continue;
    CheckDemand(StrCat(demand->component->name, " \"", demand->scope.ToString(), "\""),
                *demand->component, demand->scope, demand->open->handle->status(),
                demand->open->sink.get(), totals);
  }
  for (const Component& component : world_.components()) {
    if (&component == except) continue;
    for (const auto& [scope, open] : component.owners->open()) {
      CheckDemand(StrCat("owners of ", component.name, " \"", scope.ToString(), "\""), component,
                  scope, open->handle->status(), open->sink.get(), totals);
    }
    int demands = 0;
    for (const auto& [scope, count] : component.demands) demands += count;
    const double held = Gauge("mandate_cache_demands", {{"identity", component.name}});
    if (held != demands) {
      world_.violations().Add("I9", component.name, " holds ", held, " demands, not ", demands);
    }
  }
}

void CalmChecks::CheckReads() {
  for (const Component& component : world_.components()) {
    for (const ObjectKey& key : kKeys) {
      bool readable = false;
      for (const WatchScope& scope : world_.Covering(component, key)) {
        readable = readable || world_.grants().Allows(component.name, scope);
      }
      if (!readable) continue;
      const auto object = component.view->GetRaw(NonBlockingContext(), kWidget, key);
      const ObjectHistory::State* const now = world_.history().Now(key);
      const bool right = now == nullptr
                             ? absl::IsNotFound(object.status())
                             : object.ok() && (*object)->resource_version() == StrCat(now->version);
      if (right) continue;
      world_.violations().Add(
          "I6", component.name, " reads ", key.ToString(), ": ",
          object.ok() ? std::string((*object)->resource_version()) : object.status().ToString(),
          "; the server has version ", now == nullptr ? 0 : now->version);
    }
  }
}

void CalmChecks::CheckEvents(Totals& totals) {
  struct Watched {
    ModelSink* sink;
    std::string who;
    ModelSink::Events expected;
  };
  std::vector<Watched> watched;
  const auto add = [&](const Component& component, ModelSink* sink) {
    if (sink == nullptr || sink->frozen()) return;
    if (!world_.grants().Allows(component.name, sink->scope())) return;
    sink->TakeEvents();
    watched.push_back({sink, StrCat(component.name, " \"", sink->scope().ToString(), "\""), {}});
  };
  for (const auto& demand : world_.statics()) add(*demand->component, demand->open->sink.get());
  for (const Component& component : world_.components()) {
    for (const auto& [scope, open] : component.owners->open()) add(component, open->sink.get());
  }
  for (int i = 0; i < 20; ++i) {
    // More changes at once may exceed a stream's queue.
    if (i % 4 == 0 || world_.Die(3) == 0) {
      world_.loop().RunFor(absl::Milliseconds(world_.Die(50)));
    }
    const ObjectKey& key = kKeys[world_.Die(kKeys.size())];
    const bool existed = world_.history().Now(key) != nullptr;
    const bool is_delete = world_.Die(3) == 0;
    if (is_delete && !existed) continue;
    if (is_delete) {
      world_.Delete(key);
    } else {
      world_.Put(key, {{"color", world_.Die(2) == 0 ? "red" : "blue"}});
    }
    const auto type = is_delete ? ObjectEvent::Type::kDelete
                      : existed ? ObjectEvent::Type::kUpdate
                                : ObjectEvent::Type::kAdd;
    for (Watched& w : watched) {
      if (!w.sink->scope().Covers(key)) continue;
      StrAppend(&w.expected[key], " ", EventText(type, key, world_.history().version()));
    }
  }
  world_.loop().RunFor(absl::Seconds(1));
  for (const Watched& w : watched) {
    const ModelSink::Events told = w.sink->TakeEvents();
    totals.exact_events += static_cast<int64_t>(told.size());
    if (told == w.expected) continue;
    std::string texts[2];
    for (const auto& [key, events] : told) StrAppend(&texts[0], events);
    for (const auto& [key, events] : w.expected) StrAppend(&texts[1], events);
    world_.violations().Add("I5", w.who, " received", texts[0], "; expected", texts[1]);
  }
}

void CalmChecks::CheckLinger(Totals& totals) {
  const absl::Duration linger = world_.options().close_unused_watch_after;
  if (linger == absl::ZeroDuration() || world_.statics().empty()) return;
  // Without the demand, a wider stream may serve all others.
  if (world_.covers()) return;
  const size_t index = world_.Die(world_.statics().size());
  Component& component = *world_.statics()[index]->component;
  const WatchScope scope = world_.statics()[index]->scope;
  if (!world_.HasStream(scope)) return;
  ++totals.lingered;
  world_.Release(index);
  // Only this component's demand keeps it open now, or others do, too.
  world_.loop().RunFor(linger / 2);
  if (!world_.HasStream(scope)) {
    world_.violations().Add("I1", "\"", scope.ToString(), "\" was closed before its time");
  }
  if (!world_.grants().Allows(component.name, scope)) return;
  const ScopedWorld::Static& again = world_.Demand(component, scope, /*with_sink=*/true);
  world_.loop().RunReady();
  if (again.open->handle->status().state != DemandState::kSynced) {
    world_.violations().Add("I1", "\"", scope.ToString(), "\" does not use the watch that is open");
  }
}

void CalmChecks::CheckStuck(Totals& totals) {
  std::vector<Component>& components = world_.components();
  Component& stuck = components[world_.Die(components.size())];
  Component& other = components[(&stuck - components.data() + 1) % components.size()];
  const WatchScope scope = {"baz", ""};
  bool is_shared = false;
  for (const Component& component : components) {
    is_shared = is_shared || world_.MayBeOpenFor(component, scope);
  }
  if (is_shared) return;
  ++totals.stuck;
  world_.Grant(other, scope);
  stuck.client->SetMuted(true);
  const size_t before = world_.statics().size();
  for (const WatchScope& of : kScopes) {
    if (of != scope) world_.Demand(stuck, of, /*with_sink=*/false);
  }
  const ScopedWorld::Static& fresh = world_.Demand(other, scope, /*with_sink=*/true);
  world_.loop().RunFor(absl::Seconds(1));
  if (fresh.open->handle->status().state != DemandState::kSynced) {
    world_.violations().Add("I10", other.name, " is not synced while ", stuck.name,
                            " is stuck: ", AsStd(fresh.open->handle->status().reason.message()));
  }
  // Watches that it shared go on under other identities.
  world_.loop().RunFor(absl::Minutes(6));
  Totals ignored;
  CheckAllDemands(&stuck, ignored);
  while (world_.statics().size() > before) world_.Release(world_.statics().size() - 1);
  stuck.client->SetMuted(false);
  world_.loop().RunFor(absl::Minutes(1));
}

void CalmChecks::CheckDenial(Totals& totals) {
  const ScopedWorld::Static* heir = nullptr;
  Component* sponsor = nullptr;
  for (const auto& demand : world_.statics()) {
    if (demand->open->handle->status().state != DemandState::kSynced) continue;
    for (Component& component : world_.components()) {
      for (const auto& watch : component.client->open_watches()) {
        if (watch->renews || watch->scope != demand->scope) continue;
        if (&component == demand->component) continue;
        heir = demand.get();
        sponsor = &component;
      }
    }
  }
  // The hint asks for each of its scopes, and no more than a burst is sent at once.
  if (heir == nullptr || sponsor->demands.size() > 3) return;
  ++totals.denied;
  for (const WatchScope& scope : kScopes) world_.Revoke(*sponsor, scope);
  world_.cache().RecheckAccess(sponsor->name);
  world_.loop().RunFor(absl::Seconds(1));
  const DemandStatus status = heir->open->handle->status();
  if (status.state != DemandState::kSynced) {
    world_.violations().Add("I10", heir->component->name, " \"", heir->scope.ToString(), "\" is ",
                            mandate::ToString(status.state), " after the denial of ", sponsor->name,
                            ": ", AsStd(status.reason.message()));
  }
}

void CalmChecks::CheckRelease(bool is_down) {
  if (is_down) world_.server().faults().no_response = 1;
  std::vector<std::weak_ptr<ModelSink>>& sinks = world_.ended_sinks();
  world_.ReleaseAll();
  world_.loop().RunReady();
  for (const auto& sink : sinks) {
    if (!sink.expired()) world_.violations().Add("I8", "an ended demand keeps its sink");
  }
  world_.loop().RunFor(world_.options().close_unused_watch_after + absl::Seconds(1));
  for (Component& component : world_.components()) {
    if (!component.client->open_watches().empty()) {
      world_.violations().Add("I8", component.name, " has open watches without a demand");
    }
    if (Gauge("mandate_cache_demands", {{"identity", component.name}}) != 0) {
      world_.violations().Add("I8", component.name, " has demands after their end");
    }
    component.client->ForgetRequests();
  }
  for (const char* scope : {"cluster", "namespace", "object"}) {
    for (const char* gauge : {"mandate_cache_objects", "mandate_cache_bytes"}) {
      if (Gauge(gauge, {{"kind", "widgets.example.com"}, {"scope", scope}}) != 0) {
        world_.violations().Add("I8", gauge, " of scope ", scope, " is not 0 without a demand");
      }
    }
  }
  world_.loop().RunFor(absl::Hours(1));
  for (Component& component : world_.components()) {
    if (!component.client->requests().empty()) {
      world_.violations().Add("I8", component.name, " sends requests without a demand");
    }
  }
}

}  // namespace mandate::model
