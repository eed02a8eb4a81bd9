// Random demands, grants, changes, faults and releases, next to a reference model of the cache. The
// invariants I1 to I13 of the scoped cache are checked at every step, and when all is calm.
// testing/model has the model, and says which check is of which invariant.
#include <gtest/gtest.h>

#include <algorithm>

#include "manager/cache/testing/model/calm_checks.h"
#include "manager/cache/testing/model/running_checks.h"
#include "manager/cache/testing/model/scoped_world.h"
#include "manager/core/strings.h"
#include "manager/core/testing/seeds.h"

namespace mandate::model {
namespace {

struct Totals {
  RunningChecks::Totals running;
  CalmChecks::Totals calm;
  int64_t handovers = 0;
  int64_t purges = 0;
  int64_t notified = 0;
  int64_t inner_reads = 0;
};

class Program {
 public:
  explicit Program(uint64_t seed) : world_(seed), running_(world_), calm_(world_) {
    for (auto& component : world_.components()) {
      if (Die(3) != 0) world_.Grant(component, AnyScope());
    }
  }

  void Run(Totals& totals) {
    for (int round = 0; round < 3 && world_.violations().texts().empty(); ++round) {
      // In the second round the server has no faults of its own.
      round == 1 ? world_.Calm() : world_.Storm();
      for (int step = 0; step < 50; ++step) {
        Step();
        world_.loop().RunFor(AnyTime());
        running_.Check(totals.running);
      }
      Settle(totals);
      calm_.CheckEvents(totals.calm);
      running_.Check(totals.running);
      if (Die(2) == 0) calm_.CheckLinger(totals.calm);
      if (Die(2) == 0) calm_.CheckDenial(totals.calm);
      running_.Check(totals.running);
      if (Die(4) == 0) calm_.CheckStuck(totals.calm);
      running_.Check(totals.running);
    }
    const Labels kind = {{"kind", "widgets.example.com"}};
    totals.handovers += Counter("mandate_cache_handovers_total", kind);
    totals.purges += Counter("mandate_cache_purges_total", kind);
    totals.inner_reads += world_.inner_reads();
    for (const auto& component : world_.components()) {
      totals.notified += component.owners->notified();
    }
    calm_.CheckRelease(/*is_down=*/Die(2) == 0);
    for (const std::string& text : world_.violations().texts()) ADD_FAILURE() << text;
  }

 private:
  size_t Die(size_t sides) { return world_.Die(sides); }
  const WatchScope& AnyScope() { return kScopes[Die(kScopes.size())]; }
  const ObjectKey& AnyKey() { return kKeys[Die(kKeys.size())]; }
  ScopedWorld::Component& AnyComponent() {
    return world_.components()[Die(world_.components().size())];
  }
  int64_t Counter(const std::string& name, const Labels& labels) {
    return static_cast<int64_t>(world_.metrics().Counter(name, "", labels).Value());
  }
  // Often so short that streams have not delivered the last changes yet.
  absl::Duration AnyTime() {
    constexpr size_t kMost[] = {30, 30, 30, 300, 300, 3000, 3000, 200'000};
    return absl::Milliseconds(Die(kMost[Die(8)]));
  }
  ObjectLabels AnyLabels() {
    constexpr const char* kColors[] = {"red", "green", "blue"};
    if (Die(4) == 0) return {};
    return {{"color", kColors[Die(3)]}};
  }

  void Settle(Totals& totals) {
    world_.Calm();
    for (auto& demand : world_.statics()) {
      if (Die(2) == 0) world_.Resume(*demand);
    }
    if (Die(2) == 0) world_.cache().RecheckAccess();
    world_.loop().RunFor(absl::Minutes(14));
    running_.Check(totals.running);
    calm_.CheckState(totals.calm);
  }

  void Step() {
    switch (Die(24)) {
      case 0:
      case 1:
        return world_.Delete(AnyKey());
      case 2: {  // another object of the same name
        const ObjectKey& key = AnyKey();
        world_.Delete(key);
        return world_.Put(key, AnyLabels());
      }
      case 3:
        return world_.Put(AnyKey(), AnyLabels(), &AnyComponent());
      case 4:
        return world_.server().Compact();
      case 5:
      case 6:
        world_.Revoke(AnyComponent(), AnyScope());
        return Hint();
      case 7:
      case 8:
      case 9:
        world_.Grant(AnyComponent(), AnyScope());
        return Hint();
      case 10:
        return world_.server().Restart(absl::Milliseconds(Die(20'000)));
      case 11: {
        ScopedWorld::Component& component = AnyComponent();
        if (!component.client->revoked()) return world_.LoseCredential(component);
        component.client->Restore();
        return Hint();
      }
      case 12:
      case 13:
      case 14:
      case 15:
        if (world_.statics().size() < 10) {
          world_.Demand(AnyComponent(), AnyScope(), /*with_sink=*/Die(4) != 0);
        }
        return;
      case 16:
      case 17:
        if (!world_.statics().empty()) world_.Release(Die(world_.statics().size()));
        return;
      case 18:
      case 19:
        if (!world_.statics().empty()) {
          ScopedWorld::Static& demand = *world_.statics()[Die(world_.statics().size())];
          Die(2) == 0 ? world_.Pause(demand) : world_.Resume(demand);
        }
        return;
      case 20:
      case 21:
        return ReplaceDemands();
      default:
        return world_.Put(AnyKey(), AnyLabels());
    }
  }

  void Hint() {
    const size_t die = Die(4);
    if (die == 0) world_.cache().RecheckAccess();
    if (die == 1) world_.cache().RecheckAccess(AnyComponent().name);
    if (die == 2) world_.cache().RecheckAccess(AnyComponent().name, AnyScope().ns);
  }

  void ReplaceDemands() {
    constexpr const char* kSelectors[] = {"", "color=red", "color in (green,blue)", "!color"};
    DemandOwners& owners = *AnyComponent().owners;
    const std::string name = StrCat("owner-", Die(3));
    if (Die(4) == 0) return owners.Release(name);
    std::vector<WatchScope> demands;
    for (size_t i = Die(4); i > 0; --i) {
      WatchScope scope = AnyScope();
      scope.selector = kSelectors[Die(4)];
      if (std::ranges::find(demands, scope) == demands.end()) demands.push_back(scope);
    }
    owners.Replace(name, StrCat("uid-", Die(2)), std::move(demands));
  }

  ScopedWorld world_;
  RunningChecks running_;
  CalmChecks calm_;
};

TEST(ScopedCacheSimulation, KeepsItsInvariants) {
  Totals totals;
  const int64_t ran = RunSeeds(500, [&](uint64_t seed) { Program(seed).Run(totals); });
  if (ran < 100 || HasFailure()) return;
  // The intended events did happen.
  EXPECT_GT(totals.running.reads, 3000 * ran);
  EXPECT_GT(totals.running.found, 300 * ran);
  EXPECT_GT(totals.running.newer, ran);
  EXPECT_GT(totals.running.not_found, 100 * ran);
  EXPECT_GT(totals.running.forbidden, 300 * ran);
  EXPECT_GT(totals.running.unavailable, 200 * ran);
  EXPECT_GT(totals.running.last_known, 300 * ran);
  EXPECT_GT(totals.running.probes, 100 * ran);
  EXPECT_GT(totals.calm.state.synced, 10 * ran);
  EXPECT_GT(totals.calm.state.forbidden, 4 * ran);
  EXPECT_GT(totals.calm.state.streams, 6 * ran);
  EXPECT_GT(totals.calm.state.covered, ran);
  EXPECT_GT(totals.calm.exact_events, 20 * ran);
  EXPECT_GT(5 * totals.calm.lingered, ran);
  EXPECT_GT(30 * totals.calm.stuck, ran);
  EXPECT_GT(10 * totals.calm.denied, ran);
  EXPECT_GT(totals.handovers, 5 * ran);
  EXPECT_GT(2 * totals.purges, ran);
  EXPECT_GT(totals.notified, 20 * ran);
  EXPECT_GT(totals.inner_reads, 800 * ran);
}

}  // namespace
}  // namespace mandate::model
