#include "manager/cache/testing/model/running_checks.h"

#include <algorithm>
#include <set>

#include "manager/cache/testing/watch_json.h"
#include "manager/core/strings.h"

namespace mandate::model {
namespace {

using Answer = AccessLedger::Answer;

}  // namespace

void RunningChecks::Check(Totals& totals) {
  for (Component& component : world_.components()) {
    for (const WatchScope& scope : world_.scopes()) {
      const std::pair key(component.name, scope);
      if (!IsLost(component, scope)) {
        lost_at_version_.erase(key);
      } else {
        lost_at_version_.try_emplace(key, world_.history().version());
      }
    }
    for (const ObjectKey& key : world_.keys()) {
      CheckGet(component, key, totals);
      CheckLastKnown(component, key, totals);
    }
    for (const char* ns : {"", "foo", "bar", "baz", "qux"}) CheckList(component, ns);
    CheckProbes(component, totals);
    component.owners->Check();
  }
  CheckStatuses();
  CheckStreams();
  for (const auto& sink : world_.ended_sinks()) {
    if (!sink.expired()) world_.violations().Add("I8", "an ended demand keeps its sink");
  }
  world_.ended_sinks().clear();
}

bool RunningChecks::IsLost(const Component& component, const WatchScope& scope) const {
  return world_.grants().LostAt(component.name, scope) + world_.options().proof_lifetime +
             absl::Seconds(1) + world_.lateness() <
         world_.Now();
}

bool RunningChecks::MayRead(const Component& component, const WatchScope& scope) {
  return std::ranges::any_of(world_.Serving(component, scope), [&](const WatchScope& by) {
    const absl::Time proven = world_.ledger().At(component.name, by);
    return world_.ledger().Of(component.name, by) == Answer::kAllowed &&
           world_.Now() <= proven + world_.options().proof_lifetime + world_.lateness() &&
           !IsLost(component, by) && (world_.HasStream(by) || world_.WaitsForAPlace());
  });
}

void RunningChecks::CheckAnswer(Component& component, const std::string& what,
                                const std::vector<WatchScope>& scopes, const absl::Status& status,
                                bool may_wait) {
  const auto violation = [&](std::string_view invariant, std::string_view why) {
    world_.violations().Add(invariant, component.name, " reads ", what, ": ", why, " (",
                            status.ToString(), ")");
  };
  const auto has = [&](Answer answer) {
    return std::ranges::any_of(scopes, [&](const WatchScope& scope) {
      return world_.ledger().Of(component.name, scope) == answer;
    });
  };
  if (scopes.empty() != absl::IsFailedPrecondition(status)) {
    return violation("I3", "no demand covers it, or the read does not know the demand");
  }
  if (scopes.empty()) return;
  if (status.ok() || absl::IsNotFound(status)) {
    const bool may_read = std::ranges::any_of(
        scopes, [&](const WatchScope& scope) { return MayRead(component, scope); });
    if (!may_read) {
      const bool has_stream = std::ranges::any_of(
          scopes, [&](const WatchScope& scope) { return world_.HasStream(scope); });
      violation(has_stream ? "I7" : "I6",
                has_stream ? "without a valid proof" : "without a stream");
    }
  } else if (absl::IsPermissionDenied(status)) {
    if (!has(Answer::kDenied)) violation("I7", "it was not denied");
  } else if (absl::IsDeadlineExceeded(status)) {
    if (!may_wait) violation("I6", "it has no own write to wait for");
  } else if (!absl::IsUnavailable(status)) {
    violation("I6", "an unexpected error");
  }
}

void RunningChecks::CheckObject(Component& component, const RawObject& object, Totals* totals) {
  const ObjectKey key = object.Key();
  const int version = VersionOf(object);
  Component::Known& known = component.known[key];
  const auto violation = [&](std::string_view invariant, const auto&... why) {
    world_.violations().Add(invariant, component.name, " reads ", key.ToString(), "@", version,
                            ": ", why...);
  };
  const ObjectHistory::State* const state = world_.history().At(key, version);
  if (state == nullptr || state->uid != object.uid()) {
    violation("I3", "the server never had this state");
  }
  if (version < known.version) violation("I4", "after version ", known.version);
  if (object.uid() == known.gone_uid) violation("I4", "it is known to be deleted");
  if (version < known.own_write) violation("I6", "before its own write ", known.own_write);
  if (totals != nullptr) totals->newer += version > known.version;
  known.version = std::max(known.version, version);
}

void RunningChecks::CheckAbsent(Component& component, const ObjectKey& key,
                                const std::vector<WatchScope>& scopes) {
  Component::Known& known = component.known[key];
  int oldest = INT32_MAX;
  for (const WatchScope& scope : scopes) {
    if (MayRead(component, scope)) oldest = std::min(oldest, world_.StreamBegan(scope));
  }
  if (oldest == INT32_MAX) return;  // already reported
  const int since = std::max({oldest, known.version, known.own_write});
  if (!world_.history().WasAbsentSince(key, since)) {
    world_.violations().Add("I6", component.name, " does not find ", key.ToString(),
                            ", which exists since version ", since, " or before");
  }
  // A later object of this name is another one.
  const ObjectHistory::State* const last = world_.history().At(key, known.version);
  if (last != nullptr) known.gone_uid = last->uid;
}

void RunningChecks::CheckGet(Component& component, const ObjectKey& key, Totals& totals) {
  ++totals.reads;
  std::vector<WatchScope> scopes = world_.Covering(component, key);
  const auto selected = std::ranges::partition(
      scopes, [](const WatchScope& scope) { return scope.selector.empty(); });
  const auto object = component.view->GetRaw(NonBlockingContext(), kWidget, key);
  // A scope with a selector serves reads only of the objects that it has.
  const bool by_selector = !selected.empty() && !absl::IsNotFound(object.status());
  if (!by_selector) scopes.erase(selected.begin(), scopes.end());
  if (by_selector && !object.ok()) {
    totals.forbidden += absl::IsPermissionDenied(object.status());
    return;
  }
  CheckAnswer(component, key.ToString(), scopes, object.status(),
              component.known[key].own_write > 0);
  if (object.ok()) {
    ++totals.found;
    CheckObject(component, **object, &totals);
  } else if (absl::IsNotFound(object.status())) {
    ++totals.not_found;
    CheckAbsent(component, key, scopes);
  }
  totals.forbidden += absl::IsPermissionDenied(object.status());
  totals.unavailable += absl::IsUnavailable(object.status());
}

void RunningChecks::CheckList(Component& component, const std::string& ns) {
  std::vector<WatchScope> scopes;
  for (const auto& [scope, count] : component.demands) {
    if (scope.Contains({ns, ""})) scopes.push_back(scope);
  }
  const auto list = component.view->ListRaw(NonBlockingContext(), kWidget, ns);
  CheckAnswer(component, StrCat("\"", ns, "\""), scopes, list.status(), /*may_wait=*/true);
  if (!list.ok()) return;
  std::set<ObjectKey> found;
  for (const auto& object : *list) {
    found.insert(object->Key());
    CheckObject(component, *object, nullptr);
  }
  for (const ObjectKey& key : world_.keys()) {
    const bool asked = ns.empty() || key.ns == ns;
    if (asked && !found.contains(key)) CheckAbsent(component, key, scopes);
  }
}

void RunningChecks::CheckLastKnown(const Component& component, const ObjectKey& key,
                                   Totals& totals) {
  const ObjectPtr object = component.view->GetLastKnown(kWidget, key);
  if (object == nullptr) return;
  ++totals.last_known;
  // The newest version that a demand of the component may still show.
  int newest = -1;
  for (const WatchScope& scope : world_.Covering(component, key)) {
    if (world_.ledger().Of(component.name, scope) == Answer::kDenied) continue;
    const auto lost = lost_at_version_.find({component.name, scope});
    newest = std::max(newest, lost == lost_at_version_.end() ? INT32_MAX : lost->second);
  }
  if (VersionOf(*object) > newest) {
    world_.violations().Add("I7", component.name, " still learns ", key.ToString(), "@",
                            VersionOf(*object), ", although it has lost its access");
  }
}

void RunningChecks::CheckStatuses() {
  for (const auto& demand : world_.statics()) {
    const Component& component = *demand->component;
    const DemandStatus status = demand->open->handle->status();
    const auto violation = [&](std::string_view invariant, std::string_view why) {
      world_.violations().Add(invariant, component.name, " \"", demand->scope.ToString(), "\" is ",
                              ToString(status.state), ": ", why);
    };
    const Answer answer = world_.ledger().Of(component.name, demand->scope);
    const bool is_denied =
        std::ranges::all_of(world_.Serving(component, demand->scope), [&](const WatchScope& by) {
          return world_.ledger().Of(component.name, by) == Answer::kDenied;
        });
    // While the wider scope is denied for the first time, its own watch is asked.
    if (is_denied && !world_.covers() && status.state != DemandState::kForbidden) {
      violation("I7", "it was denied");
    }
    // A paused demand that has never had all objects keeps its state until it has them.
    const bool is_paused = demand->open->sink != nullptr && demand->open->sink->frozen();
    if (status.state == DemandState::kForbidden && answer != Answer::kDenied && !is_paused) {
      violation("I7", "it was not denied");
    }
    if (status.state == DemandState::kSynced && !MayRead(component, demand->scope)) {
      violation("I6", "without a stream or a proof");
    }
  }
}

void RunningChecks::CheckStreams() {
  std::map<WatchScope, int> open;
  for (Component& component : world_.components()) {
    for (const auto& watch : component.client->open_watches()) {
      if (!watch->renews) ++open[watch->scope];
      if (world_.MayBeOpenFor(component, watch->scope, world_.lateness())) continue;
      world_.violations().Add("I2", component.name, " watches \"", watch->scope.ToString(),
                              "\" without a demand");
    }
  }
  for (const auto& [scope, count] : open) {
    if (count > 1) {
      world_.violations().Add("I2", count, " streams of \"", scope.ToString(), "\" are open");
    }
  }
}

void RunningChecks::CheckProbes(Component& component, Totals& totals) {
  // A request does not tell whether a hint is its reason.
  const ProbeBudget::Options& budget = world_.options().probes;
  const double per_second = budget.per_second + budget.hints.per_second;
  const int burst = budget.burst + budget.hints.burst;
  // A check may wait for the interval between two of them, so a probe can meet the next one.
  const double slack = 1 + per_second * absl::ToDoubleSeconds(absl::Seconds(1));
  for (const absl::Time at : world_.ledger().TakeProbes(component.name)) {
    ++totals.probes;
    // A scope that was denied once, and is no longer served by a wider one, asks at once.
    if (world_.covers()) continue;
    component.probe_tokens = std::min<double>(
        burst, component.probe_tokens +
                   per_second * absl::ToDoubleSeconds(at - component.probes_counted_at));
    component.probes_counted_at = at;
    component.probe_tokens -= 1;
    if (component.probe_tokens < -slack - 0.01) {
      world_.violations().Add("I11", component.name, " sends more probes than its budget allows");
    }
  }
}

}  // namespace mandate::model
