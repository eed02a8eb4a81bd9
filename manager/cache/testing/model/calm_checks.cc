#include "manager/cache/testing/model/calm_checks.h"

#include <map>

#include "manager/cache/testing/model/exact_events.h"
#include "manager/cache/testing/model/state_checks.h"
#include "manager/core/strings.h"

namespace mandate::model {
namespace {

using Component = ScopedWorld::Component;

}  // namespace

void CalmChecks::CheckState(Totals& totals) {
  StateChecks(world_, world_.violations()).Check(totals.state);
}

void CalmChecks::CheckEvents(Totals& totals) {
  ExactEvents events(world_);
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
    events.Expect(key);
  }
  world_.loop().RunFor(absl::Seconds(1));
  totals.exact_events += events.Check();
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
    is_shared = is_shared || world_.MayBeOpenFor(component, scope, world_.lateness());
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
  StateChecks::Totals ignored;
  StateChecks(world_, world_.violations()).CheckDemands(&stuck, ignored);
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
  StateChecks(world_, world_.violations()).CheckNothingLeft();
  std::map<std::string, size_t> sent;
  for (Component& component : world_.components()) sent[component.name] = component.client->sent();
  world_.loop().RunFor(absl::Hours(1));
  for (Component& component : world_.components()) {
    if (component.client->sent() != sent[component.name]) {
      world_.violations().Add("I8", component.name, " sends requests without a demand");
    }
  }
}

}  // namespace mandate::model
