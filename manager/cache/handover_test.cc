// Several components, one watch: under whose identity the watch goes on when its sponsor cannot.
#include <gtest/gtest.h>

#include <algorithm>

#include "manager/cache/cache_impl.h"
#include "manager/cache/testing/sharing_fixture.h"
#include "manager/core/strings.h"
#include "manager/object/api_error.h"

namespace mandate {
namespace {

class HandoverTest : public SharingFixture {
 protected:
  // Both demand; a cannot get the state, and b does in its place.
  void ExpectThatBTakesOver() {
    of_a_ = Demand(*view_a_);
    of_b_ = Demand(*view_b_);
    loop_.RunFor(absl::Seconds(12));
    EXPECT_EQ(of_b_.state(), DemandState::kSynced);
    EXPECT_EQ(b_.live_watches(), 1u);
    EXPECT_EQ(a_.live_watches(), 0u);
    NoViolations();
  }
};

// An open watch is never authorised again: the sponsor proves its access like everyone.
TEST_F(HandoverTest, ASponsorsRevocationIsNoticedWithinItsTime) {
  JoinBoth();
  server_.Revoke("a");
  loop_.RunFor(absl::Minutes(5));
  EXPECT_EQ(Code(*view_a_), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(of_a_.Take(), "Forbidden");
  // b goes on, on a watch of its own that resumed where a's was.
  EXPECT_TRUE(Reads(*view_b_));
  EXPECT_EQ(of_b_.Take(), "") << "b noticed nothing";
  EXPECT_EQ(a_.live_watches(), 0u);
  ASSERT_EQ(b_.live_watches(), 1u);
  EXPECT_EQ(b_.watches()[0]->Query("resourceVersion"), "101");
  EXPECT_EQ(b_.Count("sendInitialEvents"), 0u);
  server_.Put("foo/y");
  Settle();
  EXPECT_EQ(of_b_.Take(), "+foo/y@102");
  EXPECT_EQ(of_a_.Take(), "");
  // And a comes back as a joiner.
  server_.Grant("a");
  cache_->Poke("a");
  Settle();
  EXPECT_EQ(of_a_.Take(), "+foo/y@102 Synced");
  EXPECT_EQ(a_.live_watches(), 0u);
  NoViolations();
}

TEST_F(HandoverTest, WithoutASuccessorTheWatchIsClosed) {
  server_.Grant("a");
  of_a_ = Demand(*view_a_);
  Settle();
  of_a_.Take();
  server_.Revoke("a");
  cache_->Poke("a");
  Settle();
  EXPECT_EQ(of_a_.Take(), "Forbidden");
  EXPECT_EQ(Code(*view_a_), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(server_.live_watches(), 0u) << "nothing more is fetched that nobody may see";
  server_.Put("foo/y");
  server_.Grant("a");
  cache_->Poke("a");
  Settle();
  EXPECT_EQ(of_a_.Take(), "Stale +foo/y@102 Synced");
  NoViolations();
}

TEST_F(HandoverTest, WhenTheSponsorIsRefused) {
  JoinBoth();
  server_.Revoke("a");
  // The watch ends, and a may not open it again.
  a_.watches().back()->Close();
  Settle();
  EXPECT_EQ(of_a_.Take(), "Forbidden");
  EXPECT_TRUE(Reads(*view_b_));
  EXPECT_EQ(b_.live_watches(), 1u);
  EXPECT_EQ(of_b_.Take(), "Stale Synced");
  NoViolations();
}

TEST_F(HandoverTest, WhenTheSponsorHasNoIdentity) {
  JoinBoth();
  a_.OnWatch([](const std::shared_ptr<FakeWatch>& watch) {
    watch->Close(absl::FailedPreconditionError("ServiceAccount a does not exist"));
  });
  a_.Handle([](const RestRequest&) -> absl::StatusOr<HttpResponse> {
    return absl::FailedPreconditionError("ServiceAccount a does not exist");
  });
  a_.watches().back()->Close();
  Settle();
  EXPECT_TRUE(Reads(*view_b_)) << "a's trouble is a's";
  EXPECT_EQ(b_.live_watches(), 1u);
  EXPECT_TRUE(Reads(*view_a_)) << "proven less than t_revoke ago";
  loop_.RunFor(absl::Minutes(6));
  EXPECT_EQ(Code(*view_a_), absl::StatusCode::kUnavailable) << "and then closed, not refused";
  EXPECT_EQ(of_a_.state(), DemandState::kStale);
  EXPECT_TRUE(Reads(*view_b_));
  NoViolations();
}

TEST_F(HandoverTest, WhenTheSponsorAloneIsThrottled) {
  JoinBoth();
  a_.OnWatch([](const std::shared_ptr<FakeWatch>& watch) {
    watch->Refuse(429, StatusJson(429, "TooManyRequests"));
  });
  a_.watches().back()->Close();
  Settle();
  EXPECT_EQ(of_b_.state(), DemandState::kSynced) << "at once";
  EXPECT_EQ(of_a_.state(), DemandState::kSynced) << "through b's watch";
  EXPECT_EQ(b_.live_watches(), 1u);
  NoViolations();
}

TEST_F(HandoverTest, WhenAllAreThrottledEachWaitsAsLongAsItIsAskedTo) {
  JoinBoth();
  for (FakeRestClient* client : {&a_, &b_}) {
    client->OnWatch([](const std::shared_ptr<FakeWatch>& watch) {
      watch->Close(StatusFromResponse(429, "", absl::Hours(1)));
    });
    client->ForgetRequests();
  }
  a_.watches().back()->Close();
  loop_.RunFor(absl::Minutes(3));
  EXPECT_EQ(a_.Count("watch=true"), 1u);
  EXPECT_EQ(b_.Count("watch=true"), 1u);
}

TEST_F(HandoverTest, WhenAllButOneAreThrottledThatOneTakesOver) {
  FakeRestClient c(loop_, "c");
  CacheView& view_c = Add(c);
  server_.Grant("c");
  JoinBoth();
  Demanded of_c = Demand(view_c);
  Settle();
  for (FakeRestClient* client : {&a_, &b_}) {
    client->OnWatch([](const std::shared_ptr<FakeWatch>& watch) {
      watch->Close(StatusFromResponse(429, "", absl::Hours(1)));
    });
  }
  a_.watches().back()->Close();
  Settle();
  EXPECT_EQ(c.live_watches(), 1u);
  EXPECT_EQ(of_a_.state(), DemandState::kSynced);
  EXPECT_EQ(of_b_.state(), DemandState::kSynced);
  of_c.handle.reset();
}

TEST_F(HandoverTest, WhenTheSponsorsTokenIsRejected) {
  JoinBoth();
  cache_->CutOff("a", absl::UnauthenticatedError("the server rejected the token of a"));
  Settle();
  EXPECT_EQ(of_b_.Take(), "") << "b noticed nothing";
  EXPECT_EQ(a_.live_watches(), 0u);
  EXPECT_EQ(b_.live_watches(), 1u);
  NoViolations();
}

// Such as: it has its share of the connections, and waits for one.
TEST_F(HandoverTest, WhenTheSponsorsWatchIsNotAnswered) {
  JoinBoth();
  a_.OnWatch(nullptr);
  a_.watches().back()->Close();
  loop_.RunFor(absl::Seconds(11));
  EXPECT_EQ(of_b_.state(), DemandState::kSynced);
  EXPECT_EQ(of_a_.state(), DemandState::kSynced) << "through b's watch";
  EXPECT_EQ(b_.live_watches(), 1u);
  NoViolations();
}

// It is answered, and then stuck: nothing comes, no bookmark either.
TEST_F(HandoverTest, WhenTheSponsorsWatchIsStuck) {
  JoinBoth();
  loop_.RunFor(absl::Minutes(2));
  a_.OnWatch([](const std::shared_ptr<FakeWatch>& watch) { watch->Open(); });
  a_.watches().back()->Close();
  loop_.RunFor(absl::Seconds(1));
  server_.Put("foo/y");
  loop_.RunFor(absl::Seconds(140));
  EXPECT_EQ(of_b_.state(), DemandState::kSynced) << "nobody can know";
  loop_.RunFor(absl::Seconds(12));
  EXPECT_EQ(b_.live_watches(), 1u);
  EXPECT_EQ(of_b_.state(), DemandState::kSynced);
  EXPECT_TRUE(view_b_->GetRaw({}, kWidget, {"foo", "y"}).ok());
  NoViolations();
}

TEST_F(HandoverTest, WhenTheSponsorsFirstListIsNotAnswered) {
  server_.Grant("a");
  server_.Grant("b");
  a_.OnWatch(nullptr);
  ExpectThatBTakesOver();
}

TEST_F(HandoverTest, WhenTheSponsorsListStalls) {
  for (const bool watch_list : {true, false}) {
    SCOPED_TRACE(watch_list);
    Cache::Options options = MakeOptions();
    options.reflector.watch_list = watch_list;
    Create(options);
    view_a_ = &Add(a_);
    view_b_ = &Add(b_);
    server_.Grant("a");
    server_.Grant("b");
    a_.OnWatch([](const std::shared_ptr<FakeWatch>& watch) { watch->Open(); });
    a_.HandleLate([](const RestRequest& request, const FakeRestClient::Reply& reply) {
      if (request.target.find("continue=") != std::string::npos) return;
      reply(FakeRestClient::Json(200, R"({"kind":"WidgetList","apiVersion":"example.com/v1",
          "metadata":{"resourceVersion":"101","continue":"more"},"items":[]})"));
    });
    ExpectThatBTakesOver();
    of_a_.handle.reset();
    of_b_.handle.reset();
    Settle();
    cache_.reset();
  }
}

TEST_F(HandoverTest, WhenTheServerIsSlowForAllOneWaitsUntilItAnswers) {
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
  a_.watches().back()->Close();
  loop_.RunFor(absl::Seconds(36));
  EXPECT_EQ(of_a_.state(), DemandState::kSynced);
  EXPECT_EQ(of_b_.state(), DemandState::kSynced);
  EXPECT_EQ(a_.Count("watch=true"), 1u);
  EXPECT_EQ(b_.Count("watch=true"), 1u);
  NoViolations();
}

TEST_F(HandoverTest, WhenNobodyIsAnsweredTheyTakeTurns) {
  JoinBoth();
  for (FakeRestClient* client : {&a_, &b_}) {
    client->OnWatch(nullptr);
    client->ForgetRequests();
  }
  a_.watches().back()->Close();
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

// It was silent once; the watch has worked since then, and it need not be silent again.
TEST_F(HandoverTest, OneThatWasSilentBeforeTheWatchWorkedTakesOver) {
  JoinBoth();
  for (const bool has_events : {true, false}) {
    SCOPED_TRACE(has_events);
    a_.OnWatch(nullptr);
    a_.watches().back()->Close();
    loop_.RunFor(absl::Seconds(11));
    EXPECT_EQ(b_.live_watches(), 1u);
    server_.Serve(a_);
    if (has_events) server_.Put("foo/new");
    loop_.RunFor(has_events ? absl::Seconds(1) : absl::Seconds(15));
    b_.OnWatch(nullptr);
    b_.watches().back()->Close();
    loop_.RunFor(absl::Seconds(11));
    EXPECT_EQ(of_a_.state(), DemandState::kSynced);
    EXPECT_EQ(of_b_.state(), DemandState::kSynced) << "through a's watch";
    EXPECT_EQ(a_.live_watches(), 1u);
    server_.Serve(b_);
  }
  NoViolations();
}

// As from a proxy that serves its own page: each request is accepted, and no answer is a watch.
TEST_F(HandoverTest, WhenTheSponsorsAnswersAreSomethingElse) {
  JoinBoth();
  a_.OnWatch([](const std::shared_ptr<FakeWatch>& watch) {
    watch->Open();
    watch->Send("<html>\n");
  });
  a_.HandleLate([](const RestRequest&, const FakeRestClient::Reply& reply) {
    reply(FakeRestClient::Json(200, "<html>"));
  });
  a_.watches().back()->Close();
  loop_.RunFor(absl::Seconds(30));
  EXPECT_EQ(of_b_.state(), DemandState::kSynced);
  EXPECT_EQ(b_.live_watches(), 1u);
}

// The same, but for the lists: these are well.
TEST_F(HandoverTest, WhenTheSponsorsWatchesAreSomethingElse) {
  JoinBoth();
  a_.OnWatch([](const std::shared_ptr<FakeWatch>& watch) {
    watch->Open();
    watch->Send("<html>\n");
  });
  a_.watches().back()->Close();
  loop_.RunFor(absl::Seconds(30));
  EXPECT_EQ(of_b_.state(), DemandState::kSynced);
  EXPECT_EQ(b_.live_watches(), 1u);
  NoViolations();
}

TEST_F(HandoverTest, ToOneThatIsProvedWhileTheSponsorWaits) {
  server_.Grant("a");
  server_.Grant("b");
  a_.OnWatch(nullptr);
  of_a_ = Demand(*view_a_);
  loop_.RunFor(absl::Seconds(15));
  of_b_ = Demand(*view_b_);
  loop_.RunFor(absl::Seconds(6));
  EXPECT_EQ(of_b_.state(), DemandState::kSynced);
  NoViolations();
}

// Each has its own part of it.
TEST_F(HandoverTest, WhenTheSponsorsPartOfTheBudgetIsUsedUp) {
  Cache::Options options = MakeOptions();
  options.max_watch_bytes = 60 * WidgetJson("foo/10", 100).size();
  Create(options);
  view_a_ = &Add(a_);
  view_b_ = &Add(b_);
  JoinBoth();
  Demanded other = Demand(*view_a_, "bar");
  Settle();
  // Fifteen are a's share, and thirty the common half.
  for (int i = 10; i < 30; ++i) server_.Put(StrCat("bar/", i));
  Settle();
  EXPECT_EQ(b_.live_watches(), 0u);
  for (int i = 10; i < 20; ++i) server_.Put(StrCat("baz/", i));
  Settle();
  EXPECT_EQ(b_.live_watches(), 1u);
  EXPECT_EQ(of_b_.state(), DemandState::kSynced) << of_b_.handle->status().reason;
  other.handle.reset();
}

// Reviews do not ask whether the kind exists: the joiner is proved, the sponsor's watch fails.
TEST_F(HandoverTest, ASponsorThatSteppedDownBeforeItsFirstListProvesItsAccess) {
  server_.Grant("a");
  server_.Grant("b");
  server_.SetServed(false);
  view_a_ = &Add(a_);
  view_b_ = &Add(b_);
  of_a_ = Demand(*view_a_);
  of_b_ = Demand(*view_b_);
  loop_.RunFor(absl::Minutes(5));
  EXPECT_EQ(Code(*view_a_), absl::StatusCode::kUnavailable);
  server_.SetServed(true);
  server_.Put("foo/x");
  loop_.RunFor(absl::Minutes(1));
  EXPECT_EQ(of_a_.state(), DemandState::kSynced);
  EXPECT_EQ(of_b_.state(), DemandState::kSynced);
  EXPECT_TRUE(Reads(*view_a_));
  EXPECT_TRUE(Reads(*view_b_));
  NoViolations();
}

TEST_F(HandoverTest, AnOutageIsNotMadeWorseByHandingOver) {
  JoinBoth();
  for (FakeRestClient* client : {&a_, &b_}) {
    client->OnWatch([](const std::shared_ptr<FakeWatch>& watch) {
      watch->Close(absl::UnavailableError("connection refused"));
    });
    client->ForgetRequests();
  }
  a_.watches().back()->Close();
  loop_.RunFor(absl::Minutes(10));
  EXPECT_LT(a_.Count("watch=true") + b_.Count("watch=true"), 40u);
  EXPECT_GT(a_.Count("watch=true"), 3u) << "they take turns";
  EXPECT_GT(b_.Count("watch=true"), 3u);
}

TEST_F(HandoverTest, EachTriesAsOftenAsTheOthers) {
  JoinBoth();
  std::string tries;
  for (FakeRestClient* client : {&a_, &b_}) {
    client->OnWatch([&tries, client](const std::shared_ptr<FakeWatch>& watch) {
      tries += client->component();
      watch->Close(absl::UnavailableError("connection refused"));
    });
  }
  a_.watches().back()->Close();
  EXPECT_TRUE(loop_.RunUntil([&] { return tries.size() >= 14; }));
  EXPECT_EQ(tries.substr(0, 5), "aaabb") << "after three failures, or before a long wait";
  EXPECT_NEAR(std::ranges::count(tries, 'a'), std::ranges::count(tries, 'b'), 2);
}

TEST_F(HandoverTest, WhenTheSponsorLeaves) {
  JoinBoth();
  of_a_.handle.reset();
  Settle();
  EXPECT_EQ(Code(*view_a_), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(a_.live_watches(), 0u);
  EXPECT_EQ(b_.live_watches(), 1u);
  EXPECT_EQ(of_b_.Take(), "");
  EXPECT_TRUE(Reads(*view_b_));
  of_b_.handle.reset();
  Settle();
  EXPECT_EQ(server_.live_watches(), 0u);
}

TEST_F(HandoverTest, ToOneThatHasProvedNothingYet) {
  server_.Grant("a");
  of_a_ = Demand(*view_a_);
  Settle();
  server_.faults().refuse_review = 1;
  of_b_ = Demand(*view_b_);
  Settle();
  of_a_.handle.reset();
  Settle();
  EXPECT_EQ(of_b_.Take(), "Pending Forbidden") << "no review has an answer; its own watch says so";
  EXPECT_FALSE(Reads(*view_b_));
  server_.Grant("b");
  cache_->Poke();
  Settle();
  EXPECT_EQ(of_b_.Take(), "Stale !+foo/x@101 Synced");
}

TEST_F(HandoverTest, AJoinerTakesOverFromASponsorThatNeverMight) {
  of_a_ = Demand(*view_a_);
  Settle();
  EXPECT_EQ(of_a_.Take(), "Forbidden");
  server_.Grant("b");
  of_b_ = Demand(*view_b_);
  Settle();
  EXPECT_EQ(of_b_.state(), DemandState::kSynced);
  EXPECT_TRUE(Reads(*view_b_));
  EXPECT_EQ(Code(*view_a_), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(of_a_.Take(), "");
  EXPECT_EQ(of_a_.sink->Content(), "");
}

// The watch goes on under a proven member, not under the one whose proof is on its way.
TEST_F(HandoverTest, TheSponsorsSuccessorIsAMemberThatIsProven) {
  FakeRestClient c(loop_, "c");
  CacheView& view_c = Add(c);
  for (const char* who : {"a", "b", "c"}) server_.Grant(who);
  of_a_ = Demand(*view_a_);
  Settle();
  of_b_ = Demand(*view_b_);
  Settle();
  c.SetDelay([] { return absl::Seconds(30); });
  Demanded of_c = Demand(view_c);
  Settle();
  of_a_.handle.reset();
  Settle();
  EXPECT_EQ(b_.live_watches(), 1u);
  EXPECT_EQ(c.watches().size(), 0u);
  EXPECT_EQ(of_b_.state(), DemandState::kSynced);
}

}  // namespace
}  // namespace mandate
