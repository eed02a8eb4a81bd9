// The uses of tenants whose watches had to end.
#include <gtest/gtest.h>

#include "manager/cache/testing/watch_budget_fixture.h"
#include "manager/core/strings.h"

namespace mandate {
namespace {

// A watch that can never fit begins small, and would end all that are larger at that time.
TEST_F(TenantsBudgetTest, AUseIsRememberedForAWhile) {
  ASSERT_TRUE(other_.account.Set(300).ok());
  EXPECT_FALSE(one_.account.Set(400).ok());
  const auto begin_again = [&] {
    Watch again(budget_, {"one"});
    return again.account.Set(301).ok();
  };
  EXPECT_TRUE(one_.account.Set(0).ok());
  EXPECT_FALSE(begin_again()) << "also in another watch";
  EXPECT_TRUE(other_.why.ok());
  clock_.AdvanceTo(clock_.TimeNow() + WatchBudget::kRemembered - absl::Seconds(1));
  EXPECT_FALSE(begin_again());
  clock_.AdvanceTo(clock_.TimeNow() + WatchBudget::kRemembered);
  EXPECT_TRUE(other_.account.Set(302).ok());
  EXPECT_TRUE(begin_again()) << "the other one is larger";
  EXPECT_FALSE(other_.why.ok());
}

TEST_F(TenantsBudgetTest, TheSmallestUseIsForgotten) {
  for (size_t i = 0; i <= WatchBudget::kMostRemembered; ++i) {
    Watch watch(budget_, {StrCat("t", i)});
    ASSERT_FALSE(watch.account.Set(i == 7 ? 601 : 602 + i).ok());
  }
  ASSERT_TRUE(other_.account.Set(300).ok());
  Watch forgotten(budget_, {"t7"}), remembered(budget_, {"t8"});
  EXPECT_FALSE(remembered.account.Set(301).ok());
  EXPECT_TRUE(remembered.account.Set(0).ok());
  EXPECT_TRUE(forgotten.account.Set(300).ok());
  EXPECT_FALSE(forgotten.account.Set(301).ok()) << "it is the largest now, and no more than that";
  EXPECT_TRUE(other_.why.ok());
}

// Otherwise a tenant whose objects are few now could never watch them in a full budget.
TEST_F(TenantsBudgetTest, AUseEndsAlthoughTheTenantTriesAgain) {
  ASSERT_TRUE(other_.account.Set(300).ok());
  ASSERT_FALSE(one_.account.Set(400).ok());
  EXPECT_TRUE(one_.account.Set(0).ok());
  ASSERT_TRUE(other_.account.Set(590).ok());
  bool fits = false;
  int minutes = 0;
  for (; !fits && minutes < 60; ++minutes) {
    Watch again(budget_, {"one"});
    fits = again.account.Set(20).ok();
    EXPECT_TRUE(fits || other_.why.ok()) << "after " << minutes << " minutes";
    clock_.AdvanceTo(clock_.TimeNow() + absl::Minutes(1));
  }
  EXPECT_TRUE(fits);
}

// Each time half of it is remembered, so that a tenant that never fits seldom ends another one.
TEST_F(TenantsBudgetTest, HalfOfAUseIsRememberedLonger) {
  ASSERT_FALSE(one_.account.Set(800).ok());
  EXPECT_TRUE(one_.account.Set(0).ok());
  ASSERT_TRUE(other_.account.Set(390).ok());
  Watch third(budget_, {"third"});
  ASSERT_TRUE(third.account.Set(200).ok());
  clock_.AdvanceTo(clock_.TimeNow() + WatchBudget::kRemembered);
  Watch again(budget_, {"one"});
  EXPECT_FALSE(again.account.Set(11).ok()) << "400 are remembered";
  EXPECT_TRUE(other_.why.ok());
  EXPECT_TRUE(again.account.Set(0).ok());
  clock_.AdvanceTo(clock_.TimeNow() + WatchBudget::kRemembered);
  Watch later(budget_, {"one"});
  EXPECT_TRUE(later.account.Set(11).ok()) << "200 are remembered";
  EXPECT_FALSE(other_.why.ok());
}

}  // namespace
}  // namespace mandate
