#include "manager/cache/watch_budget.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>

#include "manager/core/strings.h"

namespace mandate {
namespace {

class WatchBudgetTest : public ::testing::Test {
 protected:
  // 1000 bytes for a, b, c, d and e: each has a share of 100, and 500 are common.
  WatchBudgetTest() {
    for (const char* name : {"a", "b", "c", "d", "e"}) budget_.AddComponent(name);
  }
  double Held(const std::string& component) {
    return metrics_.Gauge("mandate_cache_budget_used_bytes", "", {{"identity", component}}).Value();
  }

  Metrics metrics_;
  WatchBudget budget_{1000, metrics_};
};

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
