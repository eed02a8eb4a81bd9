#include "manager/cache/watch_budget.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <set>
#include <vector>

#include "manager/cache/testing/watch_budget_fixture.h"
#include "manager/core/strings.h"

namespace mandate {
namespace {

TEST_F(WatchBudgetTest, AComponentMayUseItsShareAndTheCommonHalf) {
  WatchBudget::Account account(budget_, "a");
  EXPECT_TRUE(account.Set(600).ok());
  const absl::Status status = account.Set(601);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  for (const char* part : {"watches of a", "601", "max_watch_bytes (1000)", "share of 100"}) {
    EXPECT_NE(status.message().find(part), std::string::npos) << status;
  }
  EXPECT_EQ(Held("a"), 601) << "it is there all the same";
  EXPECT_TRUE(account.Set(601).ok()) << "no more than before";
  EXPECT_TRUE(account.Set(400).ok());
  EXPECT_TRUE(account.Set(600).ok());
  EXPECT_EQ(metrics_.Gauge("mandate_cache_budget_limit_bytes", "", {}).Value(), 1000);
}

TEST_F(WatchBudgetTest, AComponentCannotUseAnothersShare) {
  WatchBudget::Account greedy(budget_, "a");
  EXPECT_FALSE(greedy.Set(5000).ok());
  for (const char* name : {"b", "c", "d", "e"}) {
    WatchBudget::Account account(budget_, name);
    EXPECT_TRUE(account.Set(100).ok()) << name;
    EXPECT_FALSE(account.Set(101).ok()) << name;
  }
}

TEST_F(WatchBudgetTest, AComponentsWatchesCountTogetherAndGiveBack) {
  WatchBudget::Account first(budget_, "a");
  EXPECT_TRUE(first.Set(300).ok());
  {
    WatchBudget::Account second(budget_, "a");
    EXPECT_TRUE(second.Set(300).ok());
    EXPECT_FALSE(first.Set(301).ok());
  }
  EXPECT_TRUE(first.Set(600).ok());
  EXPECT_EQ(Held("a"), 600);
}

TEST_F(WatchBudgetTest, AHandOverMovesTheHeldBytes) {
  WatchBudget::Account account(budget_, "a");
  EXPECT_TRUE(account.Set(600).ok());
  account.MoveTo("b");
  EXPECT_EQ(Held("a"), 0);
  EXPECT_EQ(Held("b"), 600);
  EXPECT_FALSE(account.Set(601).ok());
}

TEST_F(TenantsBudgetTest, TheLargestTenantGoesThoughAnotherGrows) {
  ASSERT_TRUE(one_.account.Set(500).ok());
  ASSERT_TRUE(other_.account.Set(100).ok());
  EXPECT_TRUE(other_.account.Set(101).ok());
  EXPECT_EQ(one_.why.code(), absl::StatusCode::kResourceExhausted);
  for (const char* part : {"watches of a", "601", "max_watch_bytes (1000)", "share of 100"}) {
    EXPECT_NE(one_.why.message().find(part), std::string::npos) << one_.why;
  }
  EXPECT_TRUE(one_.account.exceeded());
  EXPECT_FALSE(other_.account.exceeded());
  EXPECT_EQ(Held("a"), 101) << "its room is free at once";
  EXPECT_TRUE(other_.account.Set(200).ok());
  one_.why = absl::OkStatus();
  EXPECT_TRUE(one_.account.Set(0).ok());
  EXPECT_TRUE(other_.account.Set(600).ok());
  EXPECT_TRUE(one_.why.ok()) << "there is nothing to evict";
  EXPECT_EQ(Held("a"), 600);
  EXPECT_TRUE(one_.account.exceeded());
  one_.account.Renew();
  EXPECT_FALSE(one_.account.exceeded());
}

TEST_F(TenantsBudgetTest, TheLargestTenantCannotGrowAtTheCostOfAnother) {
  ASSERT_TRUE(one_.account.Set(500).ok());
  ASSERT_TRUE(other_.account.Set(100).ok());
  EXPECT_EQ(one_.account.Set(501).code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(one_.account.exceeded());
  EXPECT_TRUE(one_.why.ok()) << "the call itself has told";
  EXPECT_TRUE(other_.why.ok());
}

TEST_F(TenantsBudgetTest, WhatWaitsToBeReadIsItsTenants) {
  ASSERT_TRUE(other_.account.Set(100).ok());
  ASSERT_TRUE(one_.account.Set(50).ok());
  EXPECT_TRUE(one_.account.SetQueued(450).ok());
  EXPECT_FALSE(one_.account.SetQueued(451).ok());
  EXPECT_TRUE(other_.why.ok());
  EXPECT_TRUE(one_.account.SetQueued(0).ok());
  EXPECT_EQ(Held("a"), 100) << "it is to go, and does not count";
  one_.account.Renew();
  EXPECT_EQ(Held("a"), 150);
}

TEST_F(TenantsBudgetTest, ManySmallWatchesOfATenantAreOneLarge) {
  std::vector<std::unique_ptr<Watch>> small;
  for (int i = 0; i < 10; ++i) {
    small.push_back(std::make_unique<Watch>(budget_, std::set<std::string>{"one"}));
    ASSERT_TRUE(small.back()->account.Set(i == 7 ? 31 : 30).ok());
  }
  ASSERT_TRUE(other_.account.Set(290).ok());
  EXPECT_TRUE(other_.account.Set(300).ok());
  for (int i = 0; i < 10; ++i) EXPECT_EQ(small[i]->why.ok(), i != 7) << i;
  EXPECT_TRUE(other_.why.ok());
}

// Each event of a full budget would rank all watches otherwise.
TEST_F(TenantsBudgetTest, AHundredthOfTheBudgetIsFreeAfterwards) {
  std::vector<std::unique_ptr<Watch>> small;
  for (int i = 0; i < 80; ++i) {
    small.push_back(std::make_unique<Watch>(budget_, std::set<std::string>{"one"}));
    ASSERT_TRUE(small.back()->account.Set(4).ok());
  }
  const auto evicted = [&] {
    return std::ranges::count_if(small, [](const auto& watch) { return !watch->why.ok(); });
  };
  ASSERT_TRUE(other_.account.Set(270).ok());
  EXPECT_TRUE(other_.account.Set(280).ok());
  EXPECT_EQ(evicted(), 0);
  EXPECT_TRUE(other_.account.Set(281).ok());
  EXPECT_EQ(evicted(), 3);
  EXPECT_EQ(Held("a"), 589);
  EXPECT_TRUE(other_.account.Set(292).ok());
  EXPECT_EQ(evicted(), 3);
  EXPECT_TRUE(other_.account.Set(293).ok());
  EXPECT_EQ(evicted(), 6);
  EXPECT_TRUE(other_.why.ok());
}

// A tenant may demand what another one demands, too. This neither protects its own watches nor
// harms the other.
TEST_F(TenantsBudgetTest, AWatchHasTheRankOfItsMostModestTenant) {
  Watch both(budget_, {"one", "other"});
  ASSERT_TRUE(one_.account.Set(200).ok());
  ASSERT_TRUE(both.account.Set(390).ok());
  EXPECT_TRUE(both.account.Set(401).ok());
  EXPECT_FALSE(one_.why.ok());
  EXPECT_TRUE(both.why.ok());
}

TEST_F(TenantsBudgetTest, WhatTheComponentDeclaresIsTheLastToGo) {
  Watch declared(budget_, {"", "one"});
  WatchBudget::Account also(budget_, "a");
  EXPECT_FALSE(declared.account.IsDemanded());
  EXPECT_FALSE(also.IsDemanded());
  EXPECT_TRUE(one_.account.IsDemanded());
  ASSERT_TRUE(declared.account.Set(500).ok());
  ASSERT_TRUE(one_.account.Set(50).ok());
  ASSERT_TRUE(other_.account.Set(50).ok());
  EXPECT_TRUE(also.Set(100).ok());
  EXPECT_FALSE(one_.why.ok());
  EXPECT_FALSE(other_.why.ok());
  EXPECT_EQ(Held("a"), 600);
  EXPECT_FALSE(also.Set(101).ok()) << "none is left";
  EXPECT_TRUE(declared.why.ok());
}

TEST_F(TenantsBudgetTest, WhatNobodyDemandsAnyMoreIsTheFirstToGo) {
  ASSERT_TRUE(one_.account.Set(500).ok());
  ASSERT_TRUE(other_.account.Set(90).ok());
  other_.tenants.clear();
  EXPECT_FALSE(one_.account.Set(601).ok());
  EXPECT_FALSE(other_.why.ok());
  EXPECT_TRUE(one_.account.Set(500).ok());
}

// The half that components share is not the first one's.
TEST_F(TenantsBudgetTest, AnotherComponentsTenantsGoToo) {
  Watch elsewhere(budget_, {"other"});
  elsewhere.account.MoveTo("b");
  ASSERT_TRUE(elsewhere.account.Set(600).ok());
  ASSERT_TRUE(one_.account.Set(100).ok());
  EXPECT_TRUE(one_.account.Set(101).ok());
  EXPECT_NE(elsewhere.why.message().find("watches of b"), std::string::npos) << elsewhere.why;
  EXPECT_EQ(Held("b"), 0);
}

TEST_F(TenantsBudgetTest, AnotherComponentsShareIsItsOwn) {
  Watch elsewhere(budget_, {"other"});
  elsewhere.account.MoveTo("b");
  ASSERT_TRUE(elsewhere.account.Set(100).ok());
  ASSERT_TRUE(one_.account.Set(600).ok());
  EXPECT_FALSE(one_.account.Set(601).ok());
  EXPECT_TRUE(elsewhere.why.ok());
}

TEST_F(TenantsBudgetTest, ADeclaredWatchTakesTheRoomOfAnotherComponentsTenants) {
  WatchBudget::Account declared(budget_, "b");
  ASSERT_TRUE(one_.account.Set(600).ok());
  EXPECT_TRUE(declared.Set(101).ok());
  EXPECT_FALSE(one_.why.ok());
}

// Else a tenant that makes many objects of a declared kind would end the watches of all tenants.
TEST_F(TenantsBudgetTest, ADeclaredWatchThatIsLargerTakesNoRoomOfAnotherComponent) {
  WatchBudget::Account declared(budget_, "b");
  ASSERT_TRUE(one_.account.Set(300).ok());
  EXPECT_TRUE(declared.Set(400).ok());
  EXPECT_FALSE(declared.Set(401).ok());
  EXPECT_TRUE(one_.why.ok());
  EXPECT_TRUE(declared.Set(0).ok());
  EXPECT_TRUE(one_.account.Set(600).ok());
}

// The components' uses count, and not those of single watches.
TEST_F(TenantsBudgetTest, ADeclaredWatchTakesTheRoomOfALargerComponent) {
  WatchBudget::Account declared(budget_, "b");
  ASSERT_TRUE(one_.account.Set(140).ok());
  ASSERT_TRUE(other_.account.Set(139).ok());
  std::vector<std::unique_ptr<Watch>> small;
  for (int i = 0; i < 4; ++i) {
    small.push_back(std::make_unique<Watch>(budget_, std::set<std::string>{StrCat("t", i)}));
    ASSERT_TRUE(small.back()->account.Set(20).ok());
  }
  ASSERT_TRUE(declared.Set(341).ok());
  EXPECT_TRUE(declared.Set(342).ok());
  EXPECT_FALSE(one_.why.ok());
  EXPECT_TRUE(other_.why.ok());
}

// The first eviction has made it the smaller one.
TEST_F(TenantsBudgetTest, AnotherComponentsTenantsGoOnlyWhileItIsLarger) {
  WatchBudget::Account third(budget_, "c"), declared(budget_, "b");
  ASSERT_TRUE(third.Set(200).ok() && declared.Set(299).ok());
  std::vector<std::unique_ptr<Watch>> small;
  for (int i = 0; i < 30; ++i) {
    small.push_back(std::make_unique<Watch>(budget_, std::set<std::string>{"one"}));
    ASSERT_TRUE(small.back()->account.Set(10).ok());
  }
  ASSERT_TRUE(other_.account.Set(1).ok());
  EXPECT_TRUE(declared.Set(301).ok());
  EXPECT_EQ(std::ranges::count_if(small, [](const auto& watch) { return !watch->why.ok(); }), 1);
}

TEST_F(TenantsBudgetTest, WhatIsToGoCountsAgainWhereItGoes) {
  ASSERT_TRUE(one_.account.Set(500).ok());
  ASSERT_TRUE(other_.account.Set(101).ok());
  ASSERT_FALSE(one_.why.ok());
  EXPECT_TRUE(one_.account.Set(490).ok()) << "it has not grown";
  EXPECT_FALSE(one_.account.Set(491).ok());
  EXPECT_EQ(Held("a"), 101);
  EXPECT_TRUE(one_.account.FitsIn("b"));
  one_.account.MoveTo("b");
  EXPECT_EQ(Held("a"), 101);
  EXPECT_EQ(Held("b"), 491);
}

TEST_F(TenantsBudgetTest, AnotherComponentMayHaveNoRoom) {
  WatchBudget::Account declared(budget_, "b");
  ASSERT_TRUE(declared.Set(550).ok());
  ASSERT_TRUE(one_.account.Set(150).ok());
  EXPECT_FALSE(one_.account.Set(151).ok());
  EXPECT_FALSE(one_.account.FitsIn("b"));
  EXPECT_FALSE(one_.account.FitsIn("c")) << "more than its share, and the rest is b's";
  EXPECT_TRUE(one_.account.Set(100).ok());
  EXPECT_TRUE(one_.account.FitsIn("c"));
  EXPECT_FALSE(one_.account.FitsIn("b"));
}

TEST_F(TenantsBudgetTest, AWatchCountsInFullForEachOfItsTenants) {
  Watch solo(budget_, {"solo"});
  Watch shared(budget_, {"one", "other", "third"});
  ASSERT_TRUE(solo.account.Set(200).ok());
  ASSERT_TRUE(shared.account.Set(300).ok());
  ASSERT_TRUE(one_.account.Set(90).ok());
  EXPECT_TRUE(other_.account.Set(11).ok());
  EXPECT_FALSE(one_.why.ok());
  EXPECT_TRUE(solo.why.ok());
  EXPECT_TRUE(shared.why.ok());
}

TEST_F(TenantsBudgetTest, WhatWasHandedOverIsEvictedThere) {
  ASSERT_TRUE(one_.account.Set(500).ok());
  one_.account.MoveTo("b");
  WatchBudget::Account declared(budget_, "b");
  EXPECT_TRUE(declared.Set(101).ok());
  EXPECT_FALSE(one_.why.ok());
  EXPECT_EQ(Held("b"), 101);
  EXPECT_TRUE(one_.account.Set(0).ok());
}

TEST_F(TenantsBudgetTest, AnEvictedWatchThatEndsReturnsNothingMore) {
  {
    Watch evicted(budget_, {"one"});
    ASSERT_TRUE(evicted.account.Set(500).ok());
    ASSERT_TRUE(other_.account.Set(101).ok());
    ASSERT_FALSE(evicted.why.ok());
  }
  EXPECT_EQ(Held("a"), 101);
}

TEST_F(TenantsBudgetTest, WhatNobodyDemandsAnyMoreIsNotDeclared) {
  one_.tenants.clear();
  EXPECT_TRUE(one_.account.IsDemanded());
}

// As long as no component continues after an error, all of them together stay within the budget.
TEST_F(WatchBudgetTest, TheSumIsBounded) {
  std::mt19937 die(1);
  std::map<std::string, std::unique_ptr<WatchBudget::Account>> accounts;
  std::map<std::string, size_t> held;
  for (int step = 0; step < 10'000; ++step) {
    const std::string name(1, static_cast<char>('a' + die() % 5));
    auto& account = accounts[name];
    if (account == nullptr) account = std::make_unique<WatchBudget::Account>(budget_, name);
    const size_t before = held[name];
    size_t& bytes = held[name];
    bytes = die() % 700;
    if (!account->Set(bytes).ok()) {
      EXPECT_GT(bytes, 100u);
      EXPECT_TRUE(account->Set(before).ok());
      bytes = before;
    }
    size_t sum = 0;
    for (const auto& [who, size] : held) sum += size;
    ASSERT_LE(sum, 1000u);
  }
}

}  // namespace
}  // namespace mandate
