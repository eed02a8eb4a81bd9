// Watches that are no longer needed are closed in turn.
#include <gtest/gtest.h>

#include <vector>

#include "manager/cache/cache.h"
#include "manager/cache/testing/cache_fixture.h"
#include "manager/core/strings.h"

namespace mandate {
namespace {

class ClosingTest : public CacheFixture {
 protected:
  static constexpr int kScopes = 10;

  void SetUp() override {
    options_.closes = {.per_second = 2, .burst = 4, .max_waiting = 100};
    view_ = &AddGranted(a_);
    for (int i = 0; i < kScopes; ++i) demands_.push_back(Demand(*view_, "foo", Name(i)));
    Settle();
    ASSERT_EQ(server_.live_watches(), 10u);
  }
  static std::string Name(int i) { return StrCat("n", i); }
  double Closing() { return Gauge("mandate_cache_watches_closing", {}); }

  CacheView* view_ = nullptr;
  std::vector<Demanded> demands_;
};

TEST_F(ClosingTest, ReleasedDemands) {
  for (Demanded& demand : demands_) demand.Take();
  demands_.clear();
  loop_.RunReady();
  EXPECT_EQ(server_.live_watches(), 6u);
  EXPECT_EQ(Closing(), 6);
  EXPECT_EQ(view_->GetRaw({}, kWidget, {"foo", Name(9)}).status().code(),
            absl::StatusCode::kFailedPrecondition)
      << "no demand";
  loop_.RunFor(absl::Seconds(1));
  EXPECT_EQ(server_.live_watches(), 4u);
  // A new demand does not wait for the old watch, and does not use it.
  Demanded again = Demand(*view_, "foo", Name(9));
  loop_.RunReady();
  EXPECT_EQ(again.state(), DemandState::kSynced);
  EXPECT_EQ(server_.live_watches(), 5u);
  server_.Put("foo/n9");
  loop_.RunReady();
  EXPECT_EQ(again.Take(), "Synced +foo/n9@101");
  loop_.RunFor(absl::Seconds(2));
  EXPECT_EQ(server_.live_watches(), 1u);
  EXPECT_EQ(Closing(), 0);
}

// It frees nothing to end the watch of a scope that was denied, and its data must stop.
TEST_F(ClosingTest, NotForADenial) {
  server_.Revoke("a");
  cache_->RecheckAccess();
  Settle();
  EXPECT_EQ(demands_[0].state(), DemandState::kForbidden);
  EXPECT_EQ(server_.live_watches(), 0u);
  EXPECT_EQ(Closing(), 0);
}

TEST_F(ClosingTest, TheWholeCache) {
  bool done = false;
  cache_->Close(absl::InfiniteFuture(), [&] { done = true; });
  EXPECT_EQ(server_.live_watches(), 6u);
  server_.Put("foo/n9");
  loop_.RunFor(absl::Seconds(2.9));
  EXPECT_EQ(server_.live_watches(), 1u);
  EXPECT_FALSE(done);
  demands_.clear();
  Demanded late = Demand(*view_, "foo", "late");
  EXPECT_FALSE(view_->GetRaw({}, kWidget, {"foo", "n9"}).ok());
  loop_.RunFor(absl::Seconds(0.2));
  EXPECT_TRUE(done);
  EXPECT_EQ(server_.live_watches(), 0u);
  Settle();
  EXPECT_EQ(late.state(), DemandState::kPending) << "nothing is opened any more";
}

TEST_F(ClosingTest, ItsEndDoesNotWait) {
  cache_->Close(absl::InfiniteFuture(), [] { ADD_FAILURE() << "they were not closed in turn"; });
  cache_.reset();
  EXPECT_EQ(server_.live_watches(), 0u);
  loop_.RunFor(absl::Minutes(1));
  demands_.clear();
}

}  // namespace
}  // namespace mandate
