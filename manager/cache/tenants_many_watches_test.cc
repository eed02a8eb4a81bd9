// The watches that one tenant's objects demand, and those of others.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "manager/cache/cache.h"
#include "manager/cache/testing/cache_fixture.h"
#include "manager/core/strings.h"

namespace mandate {
namespace {

class TenantsManyWatchesTest : public CacheFixture {
 protected:
  static constexpr int kWatches = 6;

  TenantsManyWatchesTest() { options_.max_watches = kWatches; }

  Demanded DemandFor(CacheView& view, const std::string& tenant, const std::string& ns) {
    Demanded demanded = Demand(view, ns);
    demanded.sink->SetFlows({tenant});
    return demanded;
  }
  // More than there is room for.
  std::vector<Demanded> DemandMany(CacheView& view, int count = 2 * kWatches) {
    std::vector<Demanded> demands;
    for (int i = 0; i < count; ++i) demands.push_back(DemandFor(view, "greedy", StrCat("g", i)));
    Settle();
    return demands;
  }
  static int Synced(const std::vector<Demanded>& demands) {
    return static_cast<int>(std::ranges::count_if(
        demands, [](const Demanded& demand) { return demand.state() == DemandState::kSynced; }));
  }
  double Open() { return Gauge("mandate_cache_budget_used_watches", {{"identity", "a"}}); }
};

TEST_F(TenantsManyWatchesTest, AnotherTenantFindsRoom) {
  CacheView& view = AddGranted(a_);
  Demanded declared = DemandAndSettle(view, "own");
  const std::vector<Demanded> greedy = DemandMany(view);
  EXPECT_EQ(Synced(greedy), kWatches - 1);
  server_.Put("modest/1");
  Demanded modest = DemandFor(view, "modest", "modest");
  Settle();
  EXPECT_EQ(modest.state(), DemandState::kSynced) << modest.handle->status().reason;
  EXPECT_TRUE(view.GetRaw(NonBlockingContext(), kWidget, {"modest", "1"}).ok());
  EXPECT_EQ(Synced(greedy), kWatches - 2);
  EXPECT_EQ(declared.state(), DemandState::kSynced);
  for (const Demanded& demand : greedy) {
    if (demand.state() == DemandState::kSynced) continue;
    const absl::Status& why = demand.handle->status().reason;
    EXPECT_EQ(why.code(), absl::StatusCode::kResourceExhausted) << why;
    EXPECT_NE(why.message().find("a has 6 watches open"), std::string::npos) << why;
  }
  EXPECT_EQ(Open(), kWatches);

  // They try again for as long as it takes, and never at the cost of another.
  modest.Take();
  loop_.RunFor(absl::Minutes(10));
  EXPECT_EQ(modest.Take(), "");
  EXPECT_EQ(Synced(greedy), kWatches - 2);
}

TEST_F(TenantsManyWatchesTest, AWatchThatWaitsSendsNoRequest) {
  CacheView& view = AddGranted(a_);
  const std::vector<Demanded> greedy = DemandMany(view);
  const size_t before = a_.requests().size();
  loop_.RunFor(absl::Minutes(2));
  EXPECT_EQ(a_.requests().size(), before);
}

TEST_F(TenantsManyWatchesTest, OneThatEndsMakesRoom) {
  CacheView& view = AddGranted(a_);
  std::vector<Demanded> greedy = DemandMany(view);
  std::erase_if(greedy, [](const Demanded& d) { return d.state() == DemandState::kSynced; });
  loop_.RunFor(absl::Minutes(2));
  EXPECT_EQ(Synced(greedy), kWatches);
}

// The server ends each watch every few minutes. It must not lose its room then.
TEST_F(TenantsManyWatchesTest, AWatchThatIsOpenedAgainKeepsItsRoom) {
  CacheView& view = AddGranted(a_);
  const std::vector<Demanded> few = DemandMany(view, kWatches - 1);
  Demanded other = DemandFor(view, "other", "o1");
  Settle();
  other.Take();
  const Demanded late = DemandFor(view, "other", "o2");
  loop_.RunFor(absl::Minutes(30));
  EXPECT_EQ(other.Take(), "");
}

// A denied scope has no watch, whatever its requests.
TEST_F(TenantsManyWatchesTest, DeniedScopesTakeNoRoom) {
  CacheView& view = Add(a_);
  std::vector<Demanded> denied = DemandMany(view);
  EXPECT_EQ(denied.front().state(), DemandState::kForbidden);
  EXPECT_EQ(Open(), 0);
  server_.Grant("a", "foo");
  Demanded modest = DemandFor(view, "modest", "foo");
  loop_.RunFor(absl::Minutes(5));
  EXPECT_EQ(modest.state(), DemandState::kSynced);
  EXPECT_EQ(denied.front().state(), DemandState::kForbidden)
      << denied.front().handle->status().reason;
  EXPECT_EQ(Open(), 1);
}

// The status reports the missing room, and no longer the denial.
TEST_F(TenantsManyWatchesTest, AGrantedScopeWithoutRoomWaits) {
  CacheView& view = Add(a_);
  std::vector<Demanded> greedy = DemandMany(view);
  server_.Grant("a");
  cache_->RecheckAccess("a");
  loop_.RunFor(absl::Minutes(2));
  EXPECT_EQ(Synced(greedy), kWatches);
  EXPECT_EQ(Open(), kWatches);
  for (const Demanded& demand : greedy) {
    if (demand.state() == DemandState::kSynced) continue;
    EXPECT_EQ(demand.state(), DemandState::kPending);
    EXPECT_EQ(demand.handle->status().reason.code(), absl::StatusCode::kResourceExhausted);
  }
}

// Whoever has room for it takes the watch over.
TEST_F(TenantsManyWatchesTest, AnotherComponentHasItsOwnNumber) {
  CacheView& view = AddGranted(a_);
  CacheView& other = AddGranted(b_);
  const std::vector<Demanded> greedy = DemandMany(view);
  std::vector<Demanded> also;
  for (int i = 0; i < kWatches; ++i)
    also.push_back(DemandFor(other, "greedy", StrCat("g", i + kWatches)));
  loop_.RunFor(absl::Minutes(2));
  EXPECT_EQ(Synced(also), kWatches);
  EXPECT_EQ(Synced(greedy), 2 * kWatches);
}

}  // namespace
}  // namespace mandate
