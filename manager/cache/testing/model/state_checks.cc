#include "manager/cache/testing/model/state_checks.h"

#include <map>
#include <set>

#include "manager/cache/testing/model/expected_streams.h"
#include "manager/cache/testing/watch_json.h"
#include "manager/core/strings.h"
#include "manager/object/selector.h"

namespace mandate::model {
namespace {

using Component = ModelWorld::Component;

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

void StateChecks::Check(Totals& totals) {
  CheckStreams(totals);
  CheckDemands(nullptr, totals);
  CheckReads();
  CheckSelectedReads();
}

void StateChecks::CheckStreams(Totals& totals) {
  const std::set<WatchScope> expected =
      ExpectedStreams(world_.Demands(), world_.grants(),
                      {.close_covered = world_.covers(), .server_selectors = true});
  std::set<WatchScope> open;
  for (Component& component : world_.components()) {
    for (const auto& watch : component.client->open_watches()) {
      if (watch->renews) continue;
      open.insert(watch->scope);
      if (!world_.grants().Allows(component.name, watch->scope)) {
        violations_.Add("I1", component.name, " watches \"", watch->scope.ToString(),
                        "\", which it may not read");
      }
    }
  }
  totals.streams += static_cast<int64_t>(open.size());
  totals.covered += static_cast<int64_t>(
      world_.Gauge("mandate_cache_covered_scopes", {{"kind", "widgets.example.com"}}));
  if (open != expected) {
    violations_.Add("I1", "the open streams are ", ToString(open), ", not ", ToString(expected));
  }
  std::map<std::string, size_t> objects = {{"cluster", 0}, {"namespace", 0}, {"object", 0}};
  for (const WatchScope& scope : expected) {
    objects[ClassOf(scope)] += world_.history().Of(scope).size();
  }
  for (const auto& [scopes, count] : objects) {
    const double held =
        world_.Gauge("mandate_cache_objects", {{"kind", "widgets.example.com"}, {"scope", scopes}});
    if (held != static_cast<double>(count)) {
      violations_.Add("I3", "the stores of scope ", scopes, " have ", held, " objects, not ",
                      count);
    }
  }
}

void StateChecks::CheckDemand(const std::string& who, const Component& component,
                              const WatchScope& scope, const DemandStatus& status,
                              const ModelSink* sink, Totals& totals) {
  const bool allowed = world_.grants().Allows(component.name, scope);
  const bool paused = sink != nullptr && sink->frozen();
  const DemandState state = allowed ? DemandState::kSynced : DemandState::kForbidden;
  ++(allowed ? totals.synced : totals.forbidden);
  // The first kSynced of a paused demand waits for its events.
  if (status.state != state && !paused) {
    violations_.Add("I7", who, " is ", mandate::ToString(status.state), ", not ",
                    mandate::ToString(state), ": ", AsStd(status.reason.message()));
  }
  if (sink == nullptr || paused) return;
  const Content content = allowed ? world_.history().Of(scope) : Content();
  if (sink->content() != content) {
    violations_.Add("I5", who, " knows ", model::ToString(sink->content()), "; the server has ",
                    model::ToString(content));
  }
}

void StateChecks::CheckDemands(const Component* except, Totals& totals) {
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
    const double held = world_.Gauge("mandate_cache_demands", {{"identity", component.name}});
    if (held != demands) {
      violations_.Add("I9", component.name, " holds ", held, " demands, not ", demands);
    }
  }
}

void StateChecks::CheckReads() {
  for (const Component& component : world_.components()) {
    for (const ObjectKey& key : world_.keys()) {
      bool readable = false;
      for (const WatchScope& scope : world_.Covering(component, key)) {
        readable =
            readable || (scope.selector.empty() && world_.grants().Allows(component.name, scope));
      }
      if (!readable) continue;
      const auto object = component.view->GetRaw(NonBlockingContext(), kWidget, key);
      const ObjectHistory::State* const now = world_.history().Now(key);
      const bool right = now == nullptr
                             ? absl::IsNotFound(object.status())
                             : object.ok() && (*object)->resource_version() == StrCat(now->version);
      if (right) continue;
      violations_.Add(
          "I6", component.name, " reads ", key.ToString(), ": ",
          object.ok() ? std::string((*object)->resource_version()) : object.status().ToString(),
          "; the server has version ", now == nullptr ? 0 : now->version);
    }
  }
}

void StateChecks::CheckSelectedReads() {
  for (const Component& component : world_.components()) {
    for (const auto& [scope, count] : component.demands) {
      if (scope.selector.empty() || !world_.grants().Allows(component.name, scope)) continue;
      const auto list = component.view->ListRawSelected(NonBlockingContext(), kWidget, scope.ns,
                                                        *LabelSelector::Parse(scope.selector));
      Content listed;
      if (list.ok()) {
        for (const auto& object : *list) listed[object->Key()] = VersionOf(*object);
      }
      if (list.ok() && listed == world_.history().Of(scope)) continue;
      violations_.Add("I6", component.name, " lists \"", scope.ToString(),
                      "\": ", list.ok() ? model::ToString(listed) : list.status().ToString(),
                      "; the server has ", model::ToString(world_.history().Of(scope)));
    }
  }
}

void StateChecks::CheckNothingLeft() {
  for (Component& component : world_.components()) {
    if (!component.client->open_watches().empty()) {
      violations_.Add("I8", component.name, " has open watches without a demand");
    }
    if (world_.Gauge("mandate_cache_demands", {{"identity", component.name}}) != 0) {
      violations_.Add("I8", component.name, " has demands after their end");
    }
  }
  for (const char* scope : {"cluster", "namespace", "object"}) {
    for (const char* gauge : {"mandate_cache_objects", "mandate_cache_bytes"}) {
      if (world_.Gauge(gauge, {{"kind", "widgets.example.com"}, {"scope", scope}}) != 0) {
        violations_.Add("I8", gauge, " of scope ", scope, " is not 0 without a demand");
      }
    }
  }
}

}  // namespace mandate::model
