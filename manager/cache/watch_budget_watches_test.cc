// How many watches a component may have open, and which one ends if it opens one more.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "manager/cache/testing/watch_budget_fixture.h"
#include "manager/core/strings.h"

namespace mandate {
namespace {

class WatchesBudgetTest : public TenantsBudgetTest {
 protected:
  WatchBudget::Options WithWatches(size_t most) const {
    return {.max_bytes = 1000, .max_watches = most, .bytes_per_watch = 0};
  }
  // They belong to component a.
  static std::vector<std::unique_ptr<Watch>> Open(WatchBudget& budget, const std::string& tenant,
                                                  size_t count) {
    std::vector<std::unique_ptr<Watch>> watches;
    for (size_t i = 0; i < count; ++i) {
      watches.push_back(std::make_unique<Watch>(budget, std::set<std::string>{tenant}));
      EXPECT_TRUE(watches.back()->account.Open().ok()) << tenant << " " << i;
    }
    return watches;
  }
  static size_t Evicted(const std::vector<std::unique_ptr<Watch>>& watches) {
    return static_cast<size_t>(
        std::ranges::count_if(watches, [](const auto& watch) { return !watch->why.ok(); }));
  }
  double Opened(const std::string& component) {
    return metrics_.Gauge("mandate_cache_budget_used_watches", "", {{"identity", component}})
        .Value();
  }
};

TEST_F(WatchesBudgetTest, AnOpenWatchCountsInBytes) {
  WatchBudget budget({.max_bytes = 1000, .max_watches = 5, .bytes_per_watch = 40}, clock_,
                     metrics_);
  budget.AddComponent("a");
  WatchBudget::Account account(budget, "a");
  ASSERT_TRUE(account.Set(100).ok());
  EXPECT_EQ(Held("a"), 100);
  EXPECT_TRUE(account.Open().ok());
  EXPECT_TRUE(account.Open().ok()) << "it is open";
  EXPECT_EQ(Held("a"), 140);
  EXPECT_EQ(Opened("a"), 1);
  account.MoveTo("b");
  EXPECT_EQ(Held("a"), 0);
  EXPECT_EQ(Held("b"), 140);
  EXPECT_EQ(Opened("a"), 0);
  EXPECT_EQ(Opened("b"), 1);
  account.Close();
  EXPECT_EQ(Held("b"), 100);
  EXPECT_EQ(Opened("b"), 0);
  EXPECT_EQ(metrics_.Gauge("mandate_cache_budget_limit_watches", "", {}).Value(), 5);
}

TEST_F(WatchesBudgetTest, AWatchWithoutRoomInBytesIsNotOpen) {
  WatchBudget budget({.max_bytes = 1000, .max_watches = 5, .bytes_per_watch = 40}, clock_,
                     metrics_);
  WatchBudget::Account large(budget, "a");
  Watch small(budget, {"one"});
  ASSERT_TRUE(large.Set(990).ok());
  const absl::Status why = small.account.Open();
  EXPECT_EQ(why.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_NE(why.message().find("max_watch_bytes"), std::string::npos) << why;
  EXPECT_EQ(Opened("a"), 0);
  EXPECT_EQ(Held("a"), 990);
}

// Otherwise it could never read that the server has fewer objects now.
TEST_F(WatchesBudgetTest, ADeclaredWatchThatIsTooLargeIsOpenedAgain) {
  WatchBudget budget({.max_bytes = 1000, .max_watches = 5, .bytes_per_watch = 40}, clock_,
                     metrics_);
  WatchBudget::Account large(budget, "a");
  ASSERT_FALSE(large.Set(1200).ok());
  large.Renew();
  EXPECT_TRUE(large.Open().ok());
  EXPECT_FALSE(large.exceeded());
  EXPECT_TRUE(large.Set(800).ok());
}

TEST_F(WatchesBudgetTest, TheTenantWithMostWatchesLosesOne) {
  WatchBudget budget(WithWatches(5), clock_, metrics_);
  const auto many = Open(budget, "many", 4);
  const auto few = Open(budget, "few", 1);
  const auto late = Open(budget, "late", 1);
  EXPECT_EQ(Evicted(many), 1u);
  EXPECT_EQ(Evicted(few), 0u);
  EXPECT_EQ(Evicted(late), 0u);
  EXPECT_EQ(Opened("a"), 5);
  absl::Status why;
  for (const auto& watch : many) why.Update(watch->why);
  EXPECT_EQ(why.code(), absl::StatusCode::kResourceExhausted);
  for (const char* part : {"a has 5 watches open", "max_watches"}) {
    EXPECT_NE(why.message().find(part), std::string::npos) << why;
  }
}

TEST_F(WatchesBudgetTest, AmongEqualsTheOneThatOpensEnds) {
  WatchBudget budget(WithWatches(5), clock_, metrics_);
  const auto one = Open(budget, "one", 2);
  const auto other = Open(budget, "other", 3);
  Watch more(budget, {"one"});
  EXPECT_EQ(more.account.Open().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(more.account.exceeded());
  EXPECT_TRUE(more.why.ok()) << "the result said so";
  EXPECT_EQ(Evicted(one) + Evicted(other), 0u);
  EXPECT_EQ(Opened("a"), 5);
}

// A tenant that keeps trying neither ends its own watches in turn, nor makes the budget rank all
// watches each time.
TEST_F(WatchesBudgetTest, ACrowdedTenantWaitsUntilThereIsRoom) {
  WatchBudget budget(WithWatches(5), clock_, metrics_);
  auto many = Open(budget, "many", 5);
  Watch more(budget, {"many"});
  ASSERT_FALSE(more.account.Open().ok());
  const auto late = Open(budget, "late", 1);
  ASSERT_EQ(Evicted(many), 1u);
  for (int i = 0; i < 5; ++i) {
    more.account.Renew();
    EXPECT_FALSE(more.account.Open().ok());
  }
  EXPECT_EQ(Evicted(many), 1u);
  EXPECT_EQ(Evicted(late), 0u);
  many.pop_back();
  many.pop_back();
  more.account.Renew();
  EXPECT_TRUE(more.account.Open().ok());
}

// Else each watch of a tenant that waits would end another one, again and again.
TEST_F(WatchesBudgetTest, ATenantThatIsOverInBytesWaitsUntilThereIsRoom) {
  WatchBudget budget({.max_bytes = 1000, .max_watches = 100, .bytes_per_watch = 40}, clock_,
                     metrics_);
  budget.AddComponent("a");
  const auto many = Open(budget, "many", 25);
  Watch more(budget, {"many"});
  more.account.Open().IgnoreError();
  const size_t evicted = Evicted(many);
  EXPECT_GE(evicted, 1u);
  for (int i = 0; i < 5; ++i) {
    more.account.Renew();
    more.account.Open().IgnoreError();
  }
  EXPECT_EQ(Evicted(many), evicted);
  const auto late = Open(budget, "late", 1);
  EXPECT_EQ(Evicted(late), 0u);
}

TEST_F(WatchesBudgetTest, ATenantIsCrowdedForAWhile) {
  WatchBudget budget(WithWatches(5), clock_, metrics_);
  auto one = Open(budget, "one", 3);
  Watch again(budget, {"one"});
  const auto other = Open(budget, "other", 2);
  ASSERT_FALSE(again.account.Open().ok());
  one.clear();
  const auto third = Open(budget, "third", 3);
  again.account.Renew();
  EXPECT_FALSE(again.account.Open().ok()) << "it was the largest";
  EXPECT_EQ(Evicted(third), 0u);
  clock_.AdvanceTo(clock_.TimeNow() + WatchBudget::kCrowded);
  again.account.Renew();
  EXPECT_TRUE(again.account.Open().ok());
  EXPECT_EQ(Evicted(third), 1u);
}

TEST_F(WatchesBudgetTest, ADeclaredWatchTakesTheRoomOfATenant) {
  WatchBudget budget(WithWatches(2), clock_, metrics_);
  const auto tenants = Open(budget, "one", 2);
  WatchBudget::Account first(budget, "a"), second(budget, "a"), third(budget, "a");
  EXPECT_TRUE(first.Open().ok());
  EXPECT_TRUE(second.Open().ok());
  EXPECT_EQ(Evicted(tenants), 2u);
  EXPECT_EQ(third.Open().code(), absl::StatusCode::kResourceExhausted);
  Watch late(budget, {"late"});
  EXPECT_FALSE(late.account.Open().ok());
  EXPECT_EQ(Opened("a"), 2);
}

TEST_F(WatchesBudgetTest, EachComponentHasItsOwnNumber) {
  WatchBudget budget(WithWatches(2), clock_, metrics_);
  const auto of_a = Open(budget, "one", 2);
  Watch of_b(budget, {"one"});
  EXPECT_FALSE(of_b.account.FitsIn("a"));
  of_b.account.MoveTo("b");
  EXPECT_TRUE(of_b.account.Open().ok());
  EXPECT_EQ(Evicted(of_a), 0u);
  EXPECT_TRUE(of_b.account.FitsIn("c"));
}

TEST_F(WatchesBudgetTest, AWatchCountsForTheSmallestOfItsTenants) {
  WatchBudget budget(WithWatches(4), clock_, metrics_);
  const auto many = Open(budget, "many", 3);
  Watch shared(budget, {"many", "few"});
  ASSERT_TRUE(shared.account.Open().ok());
  const auto late = Open(budget, "late", 1);
  EXPECT_TRUE(shared.why.ok());
  EXPECT_EQ(Evicted(many), 1u);
}

// To rank all watches takes long, so several end at once; but not if each tenant has few.
TEST_F(WatchesBudgetTest, SomeRoomIsMadeAtTheCostOfTheCrowd) {
  WatchBudget budget(WithWatches(300), clock_, metrics_);
  auto many = Open(budget, "many", 200);
  const auto few = Open(budget, "few", 100);
  auto late = Open(budget, "late", 1);
  EXPECT_EQ(Evicted(many), 4u) << "one for it, and a hundredth of the watches";
  EXPECT_EQ(Evicted(few), 0u);
  EXPECT_EQ(Opened("a"), 297);
}

TEST_F(WatchesBudgetTest, TenantsWithFewWatchesLoseNoMoreThanNeeded) {
  WatchBudget budget(WithWatches(300), clock_, metrics_);
  std::vector<std::vector<std::unique_ptr<Watch>>> tenants;
  for (int i = 0; i < 60; ++i) tenants.push_back(Open(budget, StrCat("t", i), 5));
  const auto late = Open(budget, "late", 1);
  size_t evicted = 0;
  for (const auto& watches : tenants) evicted += Evicted(watches);
  EXPECT_EQ(evicted, 1u);
}

}  // namespace
}  // namespace mandate
