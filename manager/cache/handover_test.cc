// Several components with one watch: the identity under which the watch continues after its
// sponsor's.
#include <gtest/gtest.h>

#include <algorithm>

#include "manager/cache/cache.h"
#include "manager/cache/testing/cache_fixture.h"
#include "manager/core/strings.h"
#include "manager/object/api_error.h"

namespace mandate {
namespace {

using HandoverTest = SharingFixture;

TEST_F(HandoverTest, WhenTheSponsorHasNoIdentity) {
  JoinBoth();
  EndRequests(a_, absl::FailedPreconditionError("ServiceAccount a does not exist"));
  CloseWatch(a_);
  Settle();
  EXPECT_TRUE(Reads(*view_b_)) << "the failure of a concerns a only";
  EXPECT_EQ(b_.live_watches(), 1u);
  EXPECT_TRUE(Reads(*view_a_)) << "proven less than proof_lifetime ago";
  loop_.RunFor(absl::Minutes(6));
  EXPECT_EQ(Code(*view_a_), absl::StatusCode::kUnavailable) << "and then closed, not refused";
  EXPECT_EQ(of_a_.state(), DemandState::kStale);
  EXPECT_TRUE(Reads(*view_b_));
}

TEST_F(HandoverTest, WhenTheSponsorAloneIsThrottled) {
  JoinBoth();
  a_.OnWatch([](const std::shared_ptr<FakeWatch>& watch) {
    watch->Refuse(429, StatusJson(429, "TooManyRequests"));
  });
  CloseWatch(a_);
  Settle();
  EXPECT_EQ(of_b_.state(), DemandState::kSynced) << "at once";
  EXPECT_EQ(of_a_.state(), DemandState::kSynced) << "through b's watch";
  EXPECT_EQ(b_.live_watches(), 1u);
}

TEST_F(HandoverTest, WhenAllAreThrottledEachObeysRetryAfter) {
  JoinBoth();
  EndWatchesOfBoth(StatusFromResponse(429, "", absl::Hours(1)));
  CloseWatch(a_);
  loop_.RunFor(absl::Minutes(3));
  EXPECT_EQ(a_.Count("watch=true"), 1u);
  EXPECT_EQ(b_.Count("watch=true"), 1u);
}

TEST_F(HandoverTest, ToTheOnlyMemberThatIsNotThrottled) {
  JoinAll();
  EndWatchesOfBoth(StatusFromResponse(429, "", absl::Hours(1)));
  CloseWatch(a_);
  Settle();
  EXPECT_EQ(c_.live_watches(), 1u);
  EXPECT_EQ(of_a_.state(), DemandState::kSynced);
  EXPECT_EQ(of_b_.state(), DemandState::kSynced);
}

TEST_F(HandoverTest, WhenTheSponsorsTokenIsRejected) {
  JoinBoth();
  cache_->OnCredentialLost("a", absl::UnauthenticatedError("the server rejected the token of a"));
  Settle();
  EXPECT_EQ(of_b_.Take(), "") << "nothing has changed for b";
  EXPECT_EQ(a_.live_watches(), 0u);
  EXPECT_EQ(b_.live_watches(), 1u);
}

TEST_F(HandoverTest, NotWhenTheTokenOfAnotherMemberIsRejected) {
  JoinBoth();
  cache_->OnCredentialLost("b", absl::UnauthenticatedError("the server rejected the token of b"));
  loop_.RunReady();
  EXPECT_EQ(of_a_.Take(), "");
  EXPECT_EQ(a_.live_watches(), 1u);
  EXPECT_EQ(b_.watches().size(), 0u);
  Settle();
  // This holds also if the other member could take over.
  EXPECT_EQ(Reads(*view_b_), true);
  cache_->OnCredentialLost("c", absl::UnauthenticatedError("the server rejected the token of c"));
  Settle();
  EXPECT_EQ(a_.live_watches(), 1u);
  EXPECT_EQ(b_.watches().size(), 0u);
}

// Each component has its own part of the budget.
TEST_F(HandoverTest, WhenTheSponsorsPartOfTheBudgetIsUsedUp) {
  options_.bytes_per_watch = 0;
  options_.max_watch_bytes = 60 * WidgetJson("foo/10", 100).size();
  options_.close_covered_watch_after = absl::InfiniteDuration();
  CreateAndAdd();
  server_.Grant("a");
  Demanded other = DemandAndSettle(*view_a_, "bar");
  server_.Grant("b");
  of_a_ = DemandAndSettle(*view_a_);
  of_b_ = DemandAndSettle(*view_b_);
  // a's share holds fifteen objects, and the common half thirty.
  for (int i = 10; i < 30; ++i) server_.Put(StrCat("bar/", i));
  Settle();
  EXPECT_EQ(b_.live_watches(), 0u);
  for (int i = 10; i < 20; ++i) server_.Put(StrCat("baz/", i));
  Settle();
  EXPECT_EQ(b_.live_watches(), 1u);
  EXPECT_EQ(of_b_.state(), DemandState::kSynced) << of_b_.handle->status().reason;
  other.handle.reset();
}

// The kind is absent for all members. So the waits still double, and no other member asks
// meanwhile.
TEST_F(HandoverTest, NotForAnAbsentKind) {
  GrantBoth();
  server_.SetServed(false);
  of_a_ = Demand(*view_a_);
  of_b_ = Demand(*view_b_);
  loop_.RunFor(absl::Minutes(5));
  EXPECT_EQ(Code(*view_a_), absl::StatusCode::kUnavailable);
  const auto tries = [](FakeRestClient& client) { return client.Count("limit=500"); };
  EXPECT_EQ(tries(b_), 0u);
  a_.ForgetRequests();
  loop_.RunFor(absl::Minutes(10));
  EXPECT_EQ(tries(b_), 0u);
  EXPECT_GE(tries(a_), 16u);
  EXPECT_LE(tries(a_), 20u) << "one in 30 s to 36 s";
  server_.SetServed(true);
  server_.Put("foo/x");
  loop_.RunFor(absl::Minutes(1));
  EXPECT_TRUE(Reads(*view_a_));
  EXPECT_TRUE(Reads(*view_b_));
}

TEST_F(HandoverTest, AFormerSponsorProvesItsAccess) {
  GrantBoth();
  EndWatches(a_);
  of_a_ = Demand(*view_a_);
  of_b_ = Demand(*view_b_);
  loop_.RunFor(absl::Minutes(1));
  EXPECT_EQ(b_.live_watches(), 1u);
  EXPECT_TRUE(Reads(*view_a_));
  EXPECT_TRUE(Reads(*view_b_));
}

TEST_F(HandoverTest, SendsFewRequestsInAnOutage) {
  JoinBoth();
  EndWatchesOfBoth();
  CloseWatch(a_);
  loop_.RunFor(absl::Minutes(10));
  EXPECT_LT(a_.Count("watch=true") + b_.Count("watch=true"), 40u);
  EXPECT_GT(a_.Count("watch=true"), 3u) << "they take turns";
  EXPECT_GT(b_.Count("watch=true"), 3u);
}

TEST_F(HandoverTest, MembersTryEquallyOften) {
  JoinBoth();
  std::string tries;
  for (FakeRestClient* client : {&a_, &b_}) {
    client->OnWatch([&tries, client](const std::shared_ptr<FakeWatch>& watch) {
      tries += client->component();
      watch->Close(absl::UnavailableError("connection refused"));
    });
  }
  CloseWatch(a_);
  EXPECT_TRUE(loop_.RunUntil([&] { return tries.size() >= 14; }));
  EXPECT_EQ(tries.substr(0, 5), "aaabb") << "after three failures, or before a long wait";
  EXPECT_NEAR(std::ranges::count(tries, 'a'), std::ranges::count(tries, 'b'), 2);
}

TEST_F(HandoverTest, FailuresOfAFormerSponsorDoNotCount) {
  JoinAll();
  EndWatchesOfBoth();
  CloseWatch(a_);
  ASSERT_TRUE(loop_.RunUntil([&] { return c_.live_watches() == 1; }));
  EXPECT_EQ(b_.Count("watch=true"), 2u) << "the second failure is followed by a long wait";
}

// Only consecutive failures count, and the watch has worked since the first two.
TEST_F(HandoverTest, AWorkingWatchResetsTheCountOfFailures) {
  JoinBoth();
  for (int outage = 1; outage <= 2; ++outage) {
    SCOPED_TRACE(outage);
    int failures = 2;
    a_.OnWatch([&](const std::shared_ptr<FakeWatch>& watch) {
      if (--failures == 0) server_.Serve(a_);
      watch->Close(absl::UnavailableError("connection refused"));
    });
    CloseWatch(a_);
    loop_.RunFor(absl::Seconds(7));
    EXPECT_EQ(of_b_.state(), DemandState::kSynced);
    EXPECT_EQ(a_.live_watches(), 1u);
    EXPECT_EQ(b_.live_watches(), 0u);
    loop_.RunFor(absl::Minutes(1));
  }
}

TEST_F(HandoverTest, WhenTheSponsorLeaves) {
  JoinBoth();
  Leave(of_a_);
  EXPECT_EQ(Code(*view_a_), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(a_.live_watches(), 0u);
  EXPECT_EQ(b_.live_watches(), 1u);
  EXPECT_EQ(of_b_.Take(), "");
  EXPECT_TRUE(Reads(*view_b_));
  Leave(of_b_);
  EXPECT_EQ(server_.live_watches(), 0u);
}

TEST_F(HandoverTest, ToAMemberWithoutAProof) {
  server_.Grant("a");
  of_a_ = DemandAndSettle(*view_a_);
  server_.faults().refuse_review = 1;
  of_b_ = DemandAndSettle(*view_b_);
  Leave(of_a_);
  EXPECT_EQ(of_b_.Take(), "Pending Forbidden") << "no review has an answer; its own watch says so";
  EXPECT_FALSE(Reads(*view_b_));
  server_.Grant("b");
  RetryAndSettle();
  EXPECT_EQ(of_b_.Take(), "Pending !+foo/x@101 Synced");
}

// A thousand scopes may be released at once.
TEST_F(HandoverTest, ADeniedMemberAsksInItsTurn) {
  constexpr int kScopes = 60;
  options_.probes = {.per_second = 2, .burst = 4};
  CreateAndAdd();
  server_.Grant("a");
  std::vector<Demanded> of_a;
  std::vector<Demanded> of_b;
  for (int i = 0; i < kScopes; ++i) {
    of_a.push_back(Demand(*view_a_, "foo", StrCat("n", i)));
  }
  Settle();
  for (int i = 0; i < kScopes; ++i) {
    of_b.push_back(Demand(*view_b_, "foo", StrCat("n", i)));
  }
  Settle();
  ASSERT_EQ(of_b.back().Take(), "Forbidden");
  loop_.RunFor(absl::Minutes(2));
  b_.ForgetRequests();
  of_a.clear();
  loop_.RunFor(absl::Seconds(10));
  EXPECT_LE(b_.requests().size(), 24u) << "a burst of 4, and 2 a second";
  EXPECT_EQ(of_b.back().Take(), "") << "it is known to be denied";
  server_.Grant("b");
  loop_.RunFor(absl::Minutes(2));
  EXPECT_EQ(of_b.back().state(), DemandState::kSynced);
  EXPECT_EQ(b_.Count(kReviews), 0u) << "the watch itself asks";
}

TEST_F(HandoverTest, AMemberWithoutAnAnswerComesBeforeADeniedOne) {
  view_c_ = &Add(c_);
  server_.Grant("a");
  of_a_ = DemandAndSettle(*view_a_);
  of_b_ = DemandAndSettle(*view_b_);
  EXPECT_EQ(of_b_.Take(), "Forbidden");
  server_.Grant("c");
  c_.SetDelay([] { return absl::Seconds(30); });
  of_c_ = DemandAndSettle(*view_c_);
  Leave(of_a_);
  EXPECT_EQ(c_.watches().size(), 1u);
}

// The watch continues under a member with a proof, and not under one that waits for its proof.
TEST_F(HandoverTest, ToAMemberWithAProof) {
  GrantBoth();
  view_c_ = &AddGranted(c_);
  of_a_ = DemandAndSettle(*view_a_);
  of_b_ = DemandAndSettle(*view_b_);
  c_.SetDelay([] { return absl::Seconds(30); });
  of_c_ = DemandAndSettle(*view_c_);
  Leave(of_a_);
  EXPECT_EQ(b_.live_watches(), 1u);
  EXPECT_EQ(c_.watches().size(), 0u);
  EXPECT_EQ(of_b_.state(), DemandState::kSynced);
}

TEST_F(HandoverTest, ToAMemberThatIsStillDemanded) {
  options_.close_unused_watch_after = absl::Minutes(4);
  CreateAndAdd();
  view_c_ = &Add(c_);
  server_.Grant("a");
  server_.Grant("c");
  of_a_ = DemandAndSettle(*view_a_);
  server_.faults().refuse_review = 1;
  of_b_ = DemandAndSettle(*view_b_);
  loop_.RunFor(absl::Minutes(1));
  Leave(of_a_);
  loop_.RunFor(absl::Minutes(3));
  of_c_ = DemandAndSettle(*view_c_);
  Leave(of_b_);
  EXPECT_EQ(b_.watches().size(), 0u);
  loop_.RunFor(absl::Minutes(1));  // a's membership ends; b's goes on
  EXPECT_EQ(b_.watches().size(), 0u);
  EXPECT_EQ(c_.watches().size(), 1u);
  EXPECT_EQ(of_c_.state(), DemandState::kSynced);
}

}  // namespace
}  // namespace mandate
