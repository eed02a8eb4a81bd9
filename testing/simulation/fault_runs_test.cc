// Random faults in a whole system: at the end every component with access has the server's state,
// and its events agree with the server's history. Without a relist, no event is missing.
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "manager/core/strings.h"
#include "manager/core/testing/seeds.h"
#include "testing/apiserver/errors.h"
#include "testing/simulation/witness.h"
#include "testing/simulation/world.h"

namespace mandate {
namespace {

constexpr int kComponents = 3;
// c0 and c1 share a watch; c2 has its own.
constexpr std::array<const char*, kComponents> kScopes = {"", "", "a"};

struct Totals {
  int64_t told = 0;
  int64_t struck = 0;
  int64_t relists = 0;
  int64_t unbroken = 0;  // sinks without a relist
};

class FaultRun {
 public:
  FaultRun(uint64_t seed, bool gentle) : gentle_(gentle), random_(seed), world_({.seed = seed}) {}

  void Run(Totals& totals) {
    for (int i = 0; i < kComponents; ++i) {
      world_.Grant(i, kScopes[Index(i)]);
      witnesses_.push_back(std::make_shared<Witness>(kScopes[Index(i)]));
      demands_.push_back(
          world_.view(i).Demand({kConfigMaps, kScopes[Index(i)], ""}, witnesses_.back()));
    }
    for (int step = 0; step < 100; ++step) {
      Disturb();
      for (int i = Pick(4); i > 0; --i) Write();
      // Most steps are short; a few last as long as a watch or a proof.
      world_.loop().RunFor(absl::Milliseconds(Pick(20) == 0 ? Pick(500'000) : Pick(4000)));
    }
    Mend();
    Write();
    world_.loop().RunFor(absl::Minutes(15));
    Check(totals);
  }

 private:
  static size_t Index(int i) { return static_cast<size_t>(i); }
  int Pick(int below) { return std::uniform_int_distribution<int>(0, below - 1)(random_); }

  void Write() {
    const ObjectKey key = {Pick(2) == 0 ? "a" : "b", StrCat("o", Pick(6))};
    if (Pick(4) == 0) {
      world_.Delete(key);
    } else {
      world_.Put(key);
    }
  }

  void AddFault(std::string verb, apiserver::Fault fault) {
    world_.server().core().faults().Add(
        {.verb = std::move(verb), .times = static_cast<size_t>(1 + Pick(3)), .fault = fault});
  }

  // Faults that a watch survives without a list. Streams end only after frames: a stream that ends
  // at once and empty causes a list.
  void DisturbGently() {
    const auto frames = static_cast<size_t>(1 + Pick(4));
    switch (Pick(7)) {
      case 0:
        return AddFault("watch", {.end_after = frames, .cut = true});
      case 1:
        return AddFault("watch", {.end_after = frames});
      case 2:
        return AddFault("watch", {.frame_delay = absl::Milliseconds(1 + Pick(500))});
      case 3:
        return AddFault("watch", {.drop_bookmarks = 0.7});
      case 4:
        return AddFault("watch", {.late_bookmarks = true});
      case 5:
        return AddFault("", {.refuse = apiserver::TooManyRequests("busy", 1 + Pick(3))});
      default:
        return AddFault("create", {.lose_answer = true});
    }
  }

  void Disturb() {
    if (Pick(3) != 0) return;
    if (gentle_) return DisturbGently();
    const int component = Pick(kComponents);
    switch (Pick(12)) {
      case 0:
        return AddFault("watch", {.refuse = apiserver::ExpiredError("too old resource version")});
      case 1:
        return AddFault("watch", {.end_after = static_cast<size_t>(Pick(3)),
                                  .error_event = apiserver::ExpiredError("too old")});
      case 2:
        return AddFault("watch", {.stall_after = static_cast<size_t>(Pick(3))});
      case 3:
        return AddFault("", {.refuse = apiserver::InternalError("etcd")});
      case 4:
        return AddFault("", {.drop = true});
      case 5:
        return AddFault("list", {.delay = absl::Seconds(Pick(90))});
      case 6:
        return AddFault("", {.ignore = true});
      case 7:
        return world_.store().Compact(world_.store().revision());
      case 8:
        return world_.Revoke(component, kScopes[Index(component)]);
      case 9:
        return world_.Grant(component, kScopes[Index(component)]);
      case 10:
        return world_.PutAccount(world_.account(component));
      default:
        return DisturbGently();
    }
  }

  void Mend() {
    world_.server().core().faults().Clear();
    for (int i = 0; i < kComponents; ++i) world_.Grant(i, kScopes[Index(i)]);
    world_.cache().RecheckAccess();
  }

  // Of all watches: a change that one of them brings reaches the objects of the others.
  int64_t Relists() {
    int64_t count = 0;
    for (int i = 0; i < kComponents; ++i) {
      for (const char* scope : {"cluster", "namespace"}) {
        const Labels labels = {
            {"kind", "configmaps"}, {"scope", scope}, {"identity", world_.name(i)}};
        count += static_cast<int64_t>(
            world_.metrics().Counter("mandate_cache_relists_total", "", labels).Value());
      }
    }
    return count;
  }

  void Check(Totals& totals) {
    for (int i = 0; i < kComponents; ++i) {
      const Witness& witness = *witnesses_[Index(i)];
      EXPECT_EQ(witness.status().state, DemandState::kSynced)
          << world_.name(i) << ": " << witness.status().reason;
      const int64_t relists = Relists();
      // A member that was denied for a while gets the difference, not each change.
      const bool unbroken = relists == 0 && gentle_;
      for (const std::string& wrong : witness.Check(world_.history(), unbroken)) {
        ADD_FAILURE() << world_.name(i) << ": " << wrong;
      }
      totals.told += static_cast<int64_t>(witness.told());
      totals.relists += relists;
      totals.unbroken += unbroken ? 1 : 0;
    }
    totals.struck += static_cast<int64_t>(world_.server().core().faults().struck());
    // One watch for each scope, regardless of its sponsor; the renewal of a proof may add one.
    EXPECT_TRUE(world_.loop().RunUntil([&] { return world_.server().core().stats().watches == 2; },
                                       absl::Seconds(2)))
        << world_.server().core().stats().watches;
  }

  const bool gentle_;
  std::mt19937_64 random_;
  World world_;
  std::vector<std::shared_ptr<Witness>> witnesses_;
  std::vector<std::unique_ptr<DemandHandle>> demands_;
};

TEST(FaultRuns, EventsMatchTheHistory) {
  Totals totals;
  const int64_t ran = RunSeeds(200, [&](uint64_t seed) { FaultRun(seed, false).Run(totals); });
  if (ran < 100) return;
  EXPECT_GT(totals.told, 100 * ran);
  EXPECT_GT(totals.struck, 10 * ran);
  EXPECT_GT(totals.relists, 2 * ran);
}

TEST(FaultRuns, EventsAreCompleteAndOrderedWithoutRelists) {
  Totals totals;
  const int64_t ran = RunSeeds(200, [&](uint64_t seed) { FaultRun(seed, true).Run(totals); });
  if (ran < 100) return;
  EXPECT_GT(totals.told, 100 * ran);
  EXPECT_GT(totals.struck, 10 * ran);
  EXPECT_GT(totals.unbroken, ran);
}

}  // namespace
}  // namespace mandate
