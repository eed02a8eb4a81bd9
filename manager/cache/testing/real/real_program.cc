#include "manager/cache/testing/real/real_program.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "manager/cache/testing/model/exact_events.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"

namespace mandate::model {

std::string RealTotals::ToString() const {
  return StrCat("reads=", running.reads, " found=", running.found, " newer=", running.newer,
                " not_found=", running.not_found, " forbidden=", running.forbidden,
                " unavailable=", running.unavailable, " probes=", running.probes,
                " synced=", state.synced, " denied=", state.forbidden, " streams=", state.streams,
                " covered=", state.covered, " events=", exact_events, " hints=", hints,
                " silent=", silent, " handovers=", handovers, " purges=", purges,
                " notified=", notified, " inner_reads=", inner_reads, " restarts=", restarts,
                " cuts=", cuts);
}

RealProgram::RealProgram(RealServer& server, Options options)
    : server_(server), options_(std::move(options)), random_(options_.seed) {
  server_.OnLoop([this] {
    world_ = std::make_unique<RealWorld>(server_, options_.seed);
    running_ = std::make_unique<RunningChecks>(*world_);
  });
}

RealProgram::~RealProgram() {
  server_.OnLoop([this] {
    running_.reset();
    world_.reset();
  });
}

std::vector<std::string> RealProgram::Violations() {
  std::vector<std::string> texts;
  server_.OnLoop([&] { texts = world_->violations().texts(); });
  return texts;
}

ModelWorld::Component& RealProgram::AnyComponent() {
  return world_->components()[Die(world_->components().size())];
}

ObjectLabels RealProgram::AnyLabels() {
  constexpr const char* kColors[] = {"red", "green", "blue"};
  if (Die(4) == 0) return {};
  return {{"color", kColors[Die(3)]}};
}

absl::Status RealProgram::Run() {
  RETURN_IF_ERROR(world_->Clear());
  for (auto& component : world_->components()) {
    if (Die(3) != 0) RETURN_IF_ERROR(world_->Grant(component, AnyScope()));
  }
  for (int round = 0; round < options_.rounds && Violations().empty(); ++round) {
    for (int step = 0; step < options_.steps; ++step) {
      RETURN_IF_ERROR(Step());
      constexpr size_t kMost[] = {1, 1, 1, 30, 30, 200};
      const size_t most = Die(kMost[Die(6)]);
      if (most > 0) server_.WaitForNews(absl::Milliseconds(most));
      Check();
    }
    RETURN_IF_ERROR(Settle());
    if (!Violations().empty()) break;
    RETURN_IF_ERROR(CheckEvents());
  }
  if (Violations().empty()) RETURN_IF_ERROR(CheckStreams());
  server_.OnLoop([this] {
    const Labels kind = {{"kind", "widgets.example.com"}};
    Metrics& metrics = world_->metrics();
    totals_.handovers +=
        static_cast<int64_t>(metrics.Counter("mandate_cache_handovers_total", "", kind).Value());
    totals_.purges +=
        static_cast<int64_t>(metrics.Counter("mandate_cache_purges_total", "", kind).Value());
    totals_.inner_reads += world_->inner_reads();
    for (const auto& component : world_->components()) {
      totals_.notified += component.owners->notified();
    }
  });
  RETURN_IF_ERROR(CheckRelease());
  return CheckStreams();
}

void RealProgram::Check() {
  server_.OnQuietLoop([this] { running_->Check(totals_.running); });
}

absl::Status RealProgram::Step() {
  const size_t die = Die(26);
  switch (die) {
    case 0:
    case 1:
      return world_->Delete(AnyKey());
    case 2: {  // another object of the same name
      const ObjectKey& key = AnyKey();
      RETURN_IF_ERROR(world_->Delete(key));
      return world_->Put(key, AnyLabels());
    }
    case 3:
      return world_->Put(AnyKey(), AnyLabels(), &AnyComponent());
    case 4:
    case 5:
    case 6: {
      ModelWorld::Component& component = AnyComponent();
      RETURN_IF_ERROR(world_->Revoke(component, AnyScope()));
      Hint();
      return absl::OkStatus();
    }
    case 7:
    case 8:
    case 9:
    case 10: {
      ModelWorld::Component& component = AnyComponent();
      RETURN_IF_ERROR(world_->Grant(component, AnyScope()));
      Hint();
      return absl::OkStatus();
    }
    case 11: {
      ModelWorld::Component& component = AnyComponent();
      bool revoked = false;
      server_.OnLoop([&] { revoked = component.client->revoked(); });
      if (!revoked) {
        world_->LoseCredential(component);
      } else {
        server_.OnLoop([&] { component.client->Restore(); });
        Hint();
      }
      return absl::OkStatus();
    }
    case 12:  // few, because each one takes long
      return Die(16) == 0 ? AskOwner("restart") : absl::OkStatus();
    case 13:
      return AskOwner("cut");
    default:
      return die < 22 ? StepDemands(die) : world_->Put(AnyKey(), AnyLabels());
  }
}

absl::Status RealProgram::StepDemands(size_t die) {
  const size_t which = Die(16);
  server_.Hold();
  RealWorld::Static* pause = nullptr;
  server_.OnLoop([&] {
    auto& statics = world_->statics();
    if (die < 18) {
      if (statics.size() >= 10) return;
      ModelWorld::Component& component = AnyComponent();
      world_->Demand(component, AnyScope(), /*with_sink=*/Die(4) != 0);
    } else if (die == 18) {
      if (!statics.empty()) world_->Release(which % statics.size());
    } else if (die == 19) {
      if (!statics.empty()) pause = statics[which % statics.size()].get();
    } else {
      ReplaceDemands();
    }
  });
  server_.Release();
  if (pause != nullptr) Die(2) == 0 ? world_->Pause(*pause) : world_->Resume(*pause);
  return absl::OkStatus();
}

void RealProgram::ReplaceDemands() {
  constexpr const char* kSelectors[] = {"", "color=red", "color in (green,blue)", "!color"};
  DemandOwners& owners = *AnyComponent().owners;
  const std::string name = StrCat("owner-", Die(3));
  if (Die(4) == 0) return owners.Release(name);
  std::vector<WatchScope> demands;
  for (size_t i = Die(4); i > 0; --i) {
    WatchScope scope = AnyScope();
    if (!scope.selector.empty()) continue;  // the server applies it
    scope.selector = kSelectors[Die(4)];
    if (std::ranges::find(demands, scope) == demands.end()) demands.push_back(scope);
  }
  owners.Replace(name, StrCat("uid-", Die(2)), std::move(demands));
}

void RealProgram::Hint() {
  const size_t die = Die(4);
  ++(die == 3 ? totals_.silent : totals_.hints);
  const std::string& name = AnyComponent().name;
  const WatchScope& scope = AnyScope();
  if (die == 0) world_->cache().RecheckAccess();
  if (die == 1) world_->cache().RecheckAccess(name);
  if (die == 2) world_->cache().RecheckAccess(name, scope.ns);
}

absl::Status RealProgram::AskOwner(const std::string& what) {
  if (options_.owner == nullptr) return absl::OkStatus();
  const std::string error = options_.owner(what);
  if (!error.empty()) return absl::UnavailableError(StrCat(what, ": ", error));
  if (what == "restart") ++totals_.restarts;
  if (what == "cut") ++totals_.cuts;
  return absl::OkStatus();
}

absl::Status RealProgram::Settle() {
  server_.OnLoop([this] {
    for (auto& component : world_->components()) component.client->Restore();
  });
  for (auto& demand : world_->statics()) {
    if (Die(2) == 0) world_->Resume(*demand);
  }
  RETURN_IF_ERROR(world_->AwaitAccess());
  if (Die(2) == 0) world_->cache().RecheckAccess();
  StateChecks::Totals last;
  RETURN_IF_ERROR(world_->AwaitNoViolation([&](class Violations& violations) {
    running_->Check(totals_.running);
    last = {};
    StateChecks(*world_, violations).Check(last);
  }));
  totals_.state.synced += last.synced;
  totals_.state.forbidden += last.forbidden;
  totals_.state.streams += last.streams;
  totals_.state.covered += last.covered;
  return absl::OkStatus();
}

absl::Status RealProgram::CheckEvents() {
  std::optional<ExactEvents> events;
  server_.OnLoop([&] { events.emplace(*world_); });
  for (int i = 0; i < 8; ++i) {
    const ObjectKey& key = AnyKey();
    bool existed = false;
    server_.OnLoop([&] { existed = world_->history().Now(key) != nullptr; });
    const bool is_delete = existed && Die(3) == 0;
    const auto then = [&] { events->Expect(key); };
    if (is_delete) {
      RETURN_IF_ERROR(world_->Delete(key, then));
    } else {
      RETURN_IF_ERROR(world_->Put(key, AnyLabels(), nullptr, then));
    }
    if (Die(3) == 0) Check();
  }
  server_.Await([&] {
    running_->Check(totals_.running);
    return events->Complete();
  });
  server_.OnLoop([&] { totals_.exact_events += events->Check(); });
  return absl::OkStatus();
}

absl::Status RealProgram::CheckStreams() {
  std::string open;  // "a=*,foo, b="
  server_.Await([&] {
    open.clear();
    bool asks = false;
    for (const auto& component : world_->components()) {
      std::vector<std::string> scopes;
      for (const auto& watch : component.client->open_watches()) {
        asks = asks || !watch->accepted;
        if (!watch->renews) scopes.push_back(watch->scope.ToString());
      }
      std::ranges::sort(scopes);
      StrAppend(&open, " ", component.name, "=");
      for (const std::string& scope : scopes) StrAppend(&open, scope.empty() ? "*" : scope, ",");
    }
    return !asks;
  });
  return AskOwner(StrCat("streams", open));
}

absl::Status RealProgram::CheckRelease() {
  server_.Hold();
  server_.OnLoop([this] { world_->ReleaseAll(); });
  server_.OnQuietLoop([this] {
    for (const auto& sink : world_->ended_sinks()) {
      if (!sink.expired()) world_->violations().Add("I8", "an ended demand keeps its sink");
    }
    world_->ended_sinks().clear();
  });
  server_.Release();
  RETURN_IF_ERROR(world_->AwaitNoViolation(
      [&](class Violations& violations) { StateChecks(*world_, violations).CheckNothingLeft(); }));
  std::map<std::string, size_t> sent;
  const auto count = [&](std::map<std::string, size_t>& counts) {
    for (const auto& component : world_->components()) {
      counts[component.name] = component.client->sent();
    }
  };
  const auto wait_for = [&](absl::Duration duration) {
    const absl::Time end = world_->Now() + duration;
    while (world_->Now() < end) server_.WaitForNews(end - world_->Now());
  };
  // An unused watch that is denied asks until its time is over.
  wait_for(world_->options().close_unused_watch_after + absl::Milliseconds(100));
  server_.OnQuietLoop([&] { count(sent); });
  // Nothing should come: this is longer than any retry.
  wait_for(absl::Seconds(1));
  server_.OnQuietLoop([&] {
    std::map<std::string, size_t> later;
    count(later);
    if (later != sent) world_->violations().Add("I8", "requests are sent without a demand");
  });
  return absl::OkStatus();
}

}  // namespace mandate::model
