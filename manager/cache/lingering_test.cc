// Members of a watch that outlive their last demand.
#include <gtest/gtest.h>

#include "manager/cache/cache.h"
#include "manager/cache/testing/cache_fixture.h"

namespace mandate {
namespace {

class LingeringTest : public CacheFixture {
 protected:
  void SetUp() override {
    Cache::Options options = MakeOptions();
    options.linger = absl::Minutes(4);
    Create(options);
    server_.Put("foo/x");
    for (const char* who : {"a", "b"}) server_.Grant(who);
  }
};

TEST_F(LingeringTest, AMemberThatIsDemandedAgainTakesOver) {
  CacheView& view_a = Add(a_);
  CacheView& view_b = Add(b_);
  Demanded of_a = Demand(view_a);
  Settle();
  Demanded of_b = Demand(view_b);
  Settle();
  ASSERT_EQ(of_b.state(), DemandState::kSynced);
  of_b.handle.reset();
  Settle();
  of_a.Take();
  server_.Revoke("a");
  a_.watches().back()->Close();
  Settle();
  ASSERT_EQ(of_a.state(), DemandState::kForbidden);
  ASSERT_EQ(server_.live_watches(), 0u) << "nobody demands it who may see it";
  of_b = Demand(view_b);
  loop_.RunReady();
  EXPECT_EQ(of_b.state(), DemandState::kSynced)
      << "at once, and not when a has failed often enough";
  EXPECT_EQ(b_.live_watches(), 1u);
  EXPECT_EQ(of_a.state(), DemandState::kForbidden);
}

}  // namespace
}  // namespace mandate
