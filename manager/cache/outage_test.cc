// The end of an outage: watches that wait try again soon after the server has answered one.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "manager/cache/cache.h"
#include "manager/cache/testing/cache_fixture.h"
#include "manager/core/strings.h"
#include "manager/object/api_error.h"

namespace mandate {
namespace {

class OutageTest : public CacheFixture {
 protected:
  static constexpr int kScopes = 40;

  void Demand40() {
    CacheView& view = AddGranted(a_);
    for (int i = 0; i < kScopes; ++i) demanded_.push_back(Demand(view, "foo", StrCat("n", i)));
    Settle();
  }
  int Synced() const {
    int synced = 0;
    for (const Demanded& demanded : demanded_) {
      synced += demanded.state() == DemandState::kSynced ? 1 : 0;
    }
    return synced;
  }
  // Until the first watch is open again; returns the time from then until all are.
  absl::Duration Recovery() {
    EXPECT_TRUE(loop_.RunUntil([&] { return Synced() > 0; }, absl::Minutes(3)));
    const absl::Time first = loop_.clock().TimeNow();
    EXPECT_TRUE(loop_.RunUntil([&] { return Synced() == kScopes; }, absl::Minutes(3)));
    return loop_.clock().TimeNow() - first;
  }

  std::vector<Demanded> demanded_;
};

TEST_F(OutageTest, TheFirstAnswerWakesAllWatches) {
  Demand40();
  ASSERT_EQ(Synced(), kScopes);
  server_.Restart(absl::Minutes(4));
  loop_.RunFor(absl::Minutes(4));
  ASSERT_EQ(Synced(), 0);
  EXPECT_LE(Recovery(), absl::Seconds(1.5));
}

// A restarted server no longer has the versions: each watch needs a list, too.
TEST_F(OutageTest, AndAnotherOutageSoonAfter) {
  Demand40();
  for (int outage = 0; outage < 5; ++outage) {
    SCOPED_TRACE(outage);
    server_.Put("foo/other");
    server_.Compact();
    server_.Restart(absl::Seconds(2));
    loop_.RunFor(absl::Seconds(2));
    EXPECT_LE(Recovery(), absl::Seconds(6));
    loop_.RunFor(absl::Seconds(12));
  }
}

// Otherwise it would ask as often as the others succeed.
TEST_F(OutageTest, AWatchThatFailsAloneIsWokenSeldom) {
  CacheView& view = AddGranted(a_);
  Demanded works = DemandAndSettle(view, "foo");
  CacheView& other = AddGranted(b_);
  EndWatches(b_, absl::UnavailableError("connection refused"));
  Demanded fails = DemandAndSettle(other, "bar");
  loop_.RunFor(absl::Minutes(5));
  b_.ForgetRequests();
  for (int second = 0; second < 120; ++second) {
    a_.watches().back()->Close();
    loop_.RunFor(absl::Seconds(1));
  }
  EXPECT_EQ(works.state(), DemandState::kSynced);
  EXPECT_LE(b_.Count("watch=true"), 25u);
}

// It waits as long as Retry-After says.
TEST_F(OutageTest, AThrottledWatchIsNotWoken) {
  CacheView& view = AddGranted(a_);
  Demanded first = DemandAndSettle(view, "foo");
  CacheView& other = AddGranted(b_);
  EndWatches(b_, StatusFromResponse(429, "", absl::Hours(1)));
  Demanded throttled = DemandAndSettle(other, "bar");
  b_.ForgetRequests();
  server_.Restart(absl::Seconds(30));
  loop_.RunFor(absl::Minutes(2));
  EXPECT_EQ(first.state(), DemandState::kSynced);
  EXPECT_EQ(b_.Count("watch=true"), 0u);
}

}  // namespace
}  // namespace mandate
