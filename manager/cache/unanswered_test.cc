// Several components with one watch, whose sponsor gets no response, or a response that is not a
// watch.
#include <gtest/gtest.h>

#include "manager/cache/cache.h"
#include "manager/cache/testing/cache_fixture.h"
#include "manager/cache/testing/widget_objects.h"
#include "manager/object/api_error.h"

namespace mandate {
namespace {

class UnansweredTest : public SharingFixture {
 protected:
  // Both have a demand. a cannot get the state, and b gets it instead.
  void ExpectThatBTakesOver() {
    of_a_ = Demand(*view_a_);
    of_b_ = Demand(*view_b_);
    loop_.RunFor(absl::Seconds(12));
    EXPECT_EQ(of_b_.state(), DemandState::kSynced);
    EXPECT_EQ(b_.live_watches(), 1u);
    EXPECT_EQ(a_.live_watches(), 0u);
  }
  // a's watch ends; b's is live after `wait`.
  void CloseAndExpectB(absl::Duration wait) {
    CloseWatch(a_);
    loop_.RunFor(wait);
    EXPECT_EQ(of_b_.state(), DemandState::kSynced);
    EXPECT_EQ(b_.live_watches(), 1u);
  }
  // Watches are accepted, and bring a proxy's page after a while.
  void ServePageTo(FakeRestClient& client, absl::Duration after = absl::ZeroDuration()) {
    client.OnWatch([this, after](const std::shared_ptr<FakeWatch>& watch) {
      watch->Open();
      loop_.PostAt(loop_.clock().TimeNow() + after, [watch] {
        if (watch->live()) watch->Send("<html>\n");
      });
    });
  }
  // Watches are answered with a 429 that asks for an hour.
  static void Throttle(FakeRestClient& client) {
    EndWatches(client, StatusFromResponse(429, "", absl::Hours(1)));
  }
};

// This happens if it waits for a free connection.
TEST_F(UnansweredTest, TheSponsorsWatchGetsNoResponse) {
  JoinBoth();
  a_.OnWatch(nullptr);
  CloseAndExpectB(absl::Seconds(11));
  EXPECT_EQ(of_a_.state(), DemandState::kSynced) << "through b's watch";
}

// The watch opens and then brings nothing, not even a bookmark.
TEST_F(UnansweredTest, TheSponsorsWatchIsStuck) {
  JoinBoth();
  loop_.RunFor(absl::Minutes(2));
  a_.OnWatch([](const std::shared_ptr<FakeWatch>& watch) { watch->Open(); });
  CloseWatch(a_);
  loop_.RunFor(absl::Seconds(1));
  server_.Put("foo/y");
  loop_.RunFor(absl::Seconds(140));
  EXPECT_EQ(of_b_.state(), DemandState::kSynced) << "nothing shows yet that the watch is stuck";
  loop_.RunFor(absl::Seconds(12));
  EXPECT_EQ(b_.live_watches(), 1u);
  EXPECT_EQ(of_b_.state(), DemandState::kSynced);
  EXPECT_TRUE(view_b_->GetRaw({}, kWidget, {"foo", "y"}).ok());
}

TEST_F(UnansweredTest, TheSponsorsFirstListGetsNoResponse) {
  GrantBoth();
  a_.OnWatch(nullptr);
  ExpectThatBTakesOver();
}

TEST_F(UnansweredTest, TheSponsorsListStalls) {
  for (const bool watch_list : {true, false}) {
    SCOPED_TRACE(watch_list);
    options_.reflector.watch_list = watch_list;
    CreateAndAdd();
    GrantBoth();
    a_.OnWatch([](const std::shared_ptr<FakeWatch>& watch) { watch->Open(); });
    a_.HandleLate([](const RestRequest& request, const FakeRestClient::Reply& reply) {
      if (request.target.find("continue=") != std::string::npos) return;
      reply(FakeRestClient::Json(200, R"({"kind":"WidgetList","apiVersion":"example.com/v1",
          "metadata":{"resourceVersion":"101","continue":"more"},"items":[]})"));
    });
    ExpectThatBTakesOver();
    of_a_.handle.reset();
    Leave(of_b_);
    cache_.reset();
  }
}

TEST_F(UnansweredTest, WaitsForAServerThatIsSlowForAll) {
  JoinBoth();
  std::vector<std::unique_ptr<Loop::Timer>> timers;
  for (FakeRestClient* client : {&a_, &b_}) {
    client->OnWatch([&](const std::shared_ptr<FakeWatch>& watch) {
      timers.push_back(loop_.RunAt(loop_.clock().TimeNow() + absl::Seconds(25), [watch] {
        if (watch->live()) watch->Open();
      }));
    });
    client->ForgetRequests();
  }
  CloseWatch(a_);
  loop_.RunFor(absl::Seconds(36));
  EXPECT_EQ(of_a_.state(), DemandState::kSynced);
  EXPECT_EQ(of_b_.state(), DemandState::kSynced);
  EXPECT_EQ(a_.Count("watch=true"), 1u);
  EXPECT_EQ(b_.Count("watch=true"), 1u);
}

TEST_F(UnansweredTest, WithoutAnyResponseMembersTakeTurns) {
  JoinBoth();
  for (FakeRestClient* client : {&a_, &b_}) {
    client->OnWatch(nullptr);
    client->ForgetRequests();
  }
  CloseWatch(a_);
  const auto expect = [&](absl::Duration after, size_t of_a, size_t of_b) {
    SCOPED_TRACE(after);
    loop_.RunFor(after);
    EXPECT_EQ(a_.Count("watch=true"), of_a);
    EXPECT_EQ(b_.Count("watch=true"), of_b);
  };
  expect(absl::Seconds(9), 1, 0);
  expect(absl::Seconds(2), 1, 1);    // after 10 s
  expect(absl::Seconds(38), 1, 1);   // b goes on for 40 s in all
  expect(absl::Seconds(2), 2, 1);    // at 50 s
  expect(absl::Seconds(118), 2, 1);  // a goes on for 120 s in all
  expect(absl::Seconds(3), 2, 2);    // at 170 s
  expect(absl::Seconds(40), 2, 2);
  EXPECT_EQ(server_.live_watches(), 0u);
  EXPECT_EQ(a_.live_watches() + b_.live_watches(), 1u);
}

// It was silent before; since then the watch has worked.
TEST_F(UnansweredTest, AMemberThatWasSilentEarlierTakesOver) {
  JoinBoth();
  for (const bool has_events : {true, false}) {
    SCOPED_TRACE(has_events);
    a_.OnWatch(nullptr);
    CloseWatch(a_);
    loop_.RunFor(absl::Seconds(11));
    EXPECT_EQ(b_.live_watches(), 1u);
    server_.Serve(a_);
    if (has_events) server_.Put("foo/new");
    loop_.RunFor(has_events ? absl::Seconds(1) : absl::Seconds(15));
    b_.OnWatch(nullptr);
    CloseWatch(b_);
    loop_.RunFor(absl::Seconds(11));
    EXPECT_EQ(of_a_.state(), DemandState::kSynced);
    EXPECT_EQ(of_b_.state(), DemandState::kSynced) << "through a's watch";
    EXPECT_EQ(a_.live_watches(), 1u);
    server_.Serve(b_);
  }
}

// A proxy may answer each request with its own page.
TEST_F(UnansweredTest, TheSponsorsResponsesAreInvalid) {
  JoinBoth();
  ServePageTo(a_);
  a_.HandleLate([](const RestRequest&, const FakeRestClient::Reply& reply) {
    reply(FakeRestClient::Json(200, "<html>"));
  });
  CloseAndExpectB(absl::Seconds(30));
}

// As before, but lists are answered correctly.
TEST_F(UnansweredTest, TheSponsorsWatchesAreInvalid) {
  JoinBoth();
  ServePageTo(a_);
  CloseAndExpectB(absl::Seconds(30));
}

// As before, and the page comes later: a watch that is open so briefly does not count as working.
TEST_F(UnansweredTest, TheSponsorsWatchesAreInvalidAfterAWhile) {
  JoinBoth();
  ServePageTo(a_, absl::Seconds(3));
  CloseAndExpectB(absl::Seconds(30));
}

TEST_F(UnansweredTest, AResponseResetsTheTimeOfEachMember) {
  JoinBoth();
  for (FakeRestClient* client : {&a_, &b_}) client->OnWatch(nullptr);
  CloseWatch(a_);
  // Both have waited in vain: b has 40 s in all.
  loop_.RunFor(absl::Seconds(25));
  for (FakeRestClient* client : {&a_, &b_}) server_.Serve(*client);
  loop_.RunFor(absl::Minutes(2));
  ASSERT_EQ(of_b_.state(), DemandState::kSynced);
  FakeRestClient& sponsor = a_.live_watches() == 1 ? a_ : b_;
  sponsor.OnWatch(nullptr);
  sponsor.watches().back()->Close();
  loop_.RunFor(absl::Seconds(11));
  EXPECT_EQ(of_a_.state(), DemandState::kSynced);
  EXPECT_EQ(of_b_.state(), DemandState::kSynced);
}

TEST_F(UnansweredTest, AThrottledMemberIsNotASuccessor) {
  JoinBoth();
  Throttle(a_);
  CloseWatch(a_);
  Settle();
  ASSERT_EQ(b_.live_watches(), 1u);
  b_.OnWatch(nullptr);
  CloseWatch(b_);
  a_.ForgetRequests();
  loop_.RunFor(absl::Minutes(3));
  EXPECT_EQ(a_.Count("watch=true"), 0u);
  EXPECT_EQ(b_.live_watches(), 1u) << "it goes on waiting";
}

TEST_F(UnansweredTest, ASilentMemberIsPreferredToAThrottledOne) {
  JoinAll();
  Throttle(a_);
  b_.OnWatch(nullptr);
  Throttle(c_);
  // a is asked to wait, then b is silent, and then c is asked to wait.
  CloseWatch(a_);
  loop_.RunFor(absl::Seconds(9));
  server_.Serve(b_);
  EXPECT_EQ(c_.Count("watch=true"), 0u);
  loop_.RunFor(absl::Seconds(3));
  EXPECT_EQ(c_.Count("watch=true"), 1u);
  EXPECT_EQ(of_b_.state(), DemandState::kSynced);
  EXPECT_EQ(b_.live_watches(), 1u);
}

TEST_F(UnansweredTest, AMemberProvedDuringTheWaitTakesOver) {
  GrantBoth();
  a_.OnWatch(nullptr);
  of_a_ = Demand(*view_a_);
  loop_.RunFor(absl::Seconds(15));
  of_b_ = Demand(*view_b_);
  loop_.RunFor(absl::Seconds(6));
  EXPECT_EQ(of_b_.state(), DemandState::kSynced);
}

// b was proven before there was anything to read.
TEST_F(UnansweredTest, WhatComesAfterAProofHasEndedIsNotLearnt) {
  GrantBoth();
  std::shared_ptr<FakeWatch> held;
  a_.OnWatch([&](const std::shared_ptr<FakeWatch>& watch) { held = watch; });
  of_a_ = DemandAndSettle(*view_a_);
  of_b_ = DemandAndSettle(*view_b_);
  EndRequests(b_, absl::FailedPreconditionError("ServiceAccount b does not exist"));
  cache_->OnCredentialLost("b", absl::UnauthenticatedError("the server rejected the token of b"));
  loop_.RunReady();
  held->Open();
  held->Send(EventJson("ADDED", WidgetJson("foo/x", 101)));
  held->Send(BookmarkJson("101", true));
  Settle();
  ASSERT_TRUE(Reads(*view_a_));
  EXPECT_FALSE(Reads(*view_b_));
  EXPECT_EQ(view_b_->GetLastKnown(kWidget, {"foo", "x"}), nullptr);
  EXPECT_TRUE(view_b_->ListLastKnown(kWidget, "").empty());
}

}  // namespace
}  // namespace mandate
