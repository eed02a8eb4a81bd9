// How the leadership of a process ends: it is lost, or the process stops and releases it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "manager/leader/leader_elector.h"
#include "manager/leader/testing/leader_fixture.h"
#include "manager/object/time.h"

namespace mandate {
namespace {

using coordinationv1::Lease;
using testing::AllOf;
using testing::HasSubstr;

using LeaderElectorLossTest = LeaderFixture;

TEST_F(LeaderElectorLossTest, ALeaderThatCannotRenewEndsBeforeOthersTakeOver) {
  auto a = Leader("a");
  auto b = Started("b");
  loop_.RunFor(absl::Minutes(1));
  const absl::Time cut = Now();
  a->LoseRequests();
  ASSERT_TRUE(loop_.RunUntil([&] { return !a->lost.empty(); }));
  EXPECT_GE(Now() - cut, absl::Seconds(10));
  EXPECT_LE(Now() - cut, absl::Seconds(12) + 3 * kMs);
  EXPECT_EQ(b->led, 0);
  EXPECT_EQ(a->elector->state(), State::kLost);
  EXPECT_EQ(a->master(), 0);
  EXPECT_THAT(std::string(a->lost[0].message()),
              AllOf(HasSubstr("leader election lost"), HasSubstr("not renewed for 1"),
                    HasSubstr(" s; the last error: ")));
  EXPECT_EQ(a->elector->status(), a->lost[0]);
  ASSERT_TRUE(loop_.RunUntil([&] { return b->leads(); }));
  EXPECT_LE(Now() - cut, absl::Seconds(24));
  // It is over for the first one, whatever comes.
  a->client.fault = nullptr;
  loop_.RunFor(absl::Minutes(1));
  EXPECT_EQ(a->elector->state(), State::kLost);
  EXPECT_EQ(a->lost.size(), 1u);
  EXPECT_EQ(Stop(*a), absl::ZeroDuration());
  EXPECT_EQ(server_.spec().holderidentity(), "b");
}

// The server renewed, but its answers crawl: others count from the renewal, not from the answer.
TEST_F(LeaderElectorLossTest, SlowAnswersShortenTheHold) {
  auto a = Leader("a");
  absl::Time last_sent;
  a->client.fault = [&](const RestRequest&) {
    last_sent = Now();
    return Fault{.back = absl::Seconds(4.9)};
  };
  loop_.RunFor(absl::Seconds(30));
  ASSERT_TRUE(a->leads());
  ASSERT_TRUE(loop_.RunUntil([&] { return Now() - last_sent > absl::Seconds(4.9); }));
  const absl::Time renewed = last_sent;
  a->LoseRequests();
  ASSERT_TRUE(loop_.RunUntil([&] { return !a->lost.empty(); }));
  EXPECT_LT(Now() - renewed, absl::Seconds(15));
}

TEST_F(LeaderElectorLossTest, ABriefFailureIsSurvived) {
  auto a = Leader("a");
  a->RefuseConnections();
  loop_.RunFor(absl::Seconds(8));
  EXPECT_TRUE(a->leads());
  EXPECT_FALSE(a->elector->status().ok());
  a->client.fault = nullptr;
  loop_.RunFor(absl::Minutes(1));
  EXPECT_TRUE(a->leads());
  EXPECT_TRUE(a->elector->status().ok());
  EXPECT_EQ(a->led, 1);
  EXPECT_GT(a->metrics.Counter("leader_election_slowpath_total", "", {{"name", "leader"}}).Value(),
            2);
}

TEST_F(LeaderElectorLossTest, AnEditedLeaseIsReadAndRenewed) {
  auto a = Leader("a");
  server_.Edit([](Lease& lease) { (*lease.mutable_metadata()->mutable_labels())["x"] = "y"; });
  loop_.RunFor(absl::Seconds(3));
  EXPECT_TRUE(a->leads());
  EXPECT_EQ(a->client.requests[a->client.requests.size() - 2].second.method, "GET");
  server_.Edit([](Lease& lease) { lease.mutable_spec()->clear_holderidentity(); });
  loop_.RunFor(absl::Seconds(3));
  EXPECT_TRUE(a->leads());
  EXPECT_EQ(server_.spec().holderidentity(), "a");
}

TEST_F(LeaderElectorLossTest, ALeaseTakenAwayIsLostAtOnce) {
  auto a = Leader("a");
  server_.Edit([](Lease& lease) { lease.mutable_spec()->set_holderidentity("thief"); });
  loop_.RunFor(absl::Seconds(3));
  EXPECT_EQ(a->elector->state(), State::kLost);
  ASSERT_EQ(a->lost.size(), 1u);
  EXPECT_THAT(std::string(a->lost[0].message()), HasSubstr("thief has taken the Lease"));
}

// The times in the Lease come from another clock, so they do not tell whether it has expired.
TEST_F(LeaderElectorLossTest, ALeaseTakenAwayIsLostEvenIfItLooksExpired) {
  auto a = Leader("a");
  server_.Edit([](Lease& lease) {
    lease.mutable_spec()->set_holderidentity("thief");
    lease.mutable_spec()->set_leasedurationseconds(1);
    SetTime(absl::UnixEpoch(), lease.mutable_spec()->mutable_renewtime());
  });
  loop_.RunFor(absl::Seconds(3));
  EXPECT_EQ(a->elector->state(), State::kLost);
  EXPECT_EQ(server_.spec().holderidentity(), "thief");
}

// What a process releases when it stops, and what it sends.
using LeaderElectorStopTest = LeaderFixture;

TEST_F(LeaderElectorStopTest, ReleasesWhenStopped) {
  auto a = Leader("a");
  auto b = Started("b");
  loop_.RunFor(absl::Minutes(1));
  const absl::Time stopping = Now();
  EXPECT_LE(Stop(*a), absl::Seconds(1));
  EXPECT_EQ(server_.spec().holderidentity(), "");
  EXPECT_GE(GetTime(server_.spec().renewtime()), stopping);
  EXPECT_EQ(GetTime(server_.spec().renewtime()), GetTime(server_.spec().acquiretime()));
  EXPECT_EQ(server_.spec().leasedurationseconds(), 1);
  EXPECT_EQ(a->elector->state(), State::kStopped);
  EXPECT_EQ(a->master(), 0);
  EXPECT_TRUE(a->lost.empty());
  const absl::Time released = Now();
  ASSERT_TRUE(loop_.RunUntil([&] { return b->leads(); }));
  EXPECT_LE(Now() - released, absl::Seconds(4.5));
  const int writes = server_.writes();
  a.reset();
  loop_.RunFor(absl::Seconds(1));
  EXPECT_LE(server_.writes(), writes + 1);
}

TEST_F(LeaderElectorStopTest, StopOfAFollowerSendsNothing) {
  auto a = Leader("a");
  auto b = Started("b");
  loop_.RunFor(absl::Seconds(30));
  const size_t requests = b->client.requests.size();
  EXPECT_EQ(Stop(*b), absl::ZeroDuration());
  loop_.RunFor(absl::Minutes(1));
  EXPECT_EQ(b->client.requests.size(), requests);
  EXPECT_EQ(server_.spec().holderidentity(), "a");
  EXPECT_EQ(b->led, 0);
}

TEST_F(LeaderElectorStopTest, StopBeforeStart) {
  auto a = New("a");
  EXPECT_EQ(Stop(*a), absl::ZeroDuration());
  EXPECT_TRUE(a->client.requests.empty());
}

TEST_F(LeaderElectorStopTest, StopBeforeTheFirstRequestSendsNothing) {
  auto a = Started("a");
  EXPECT_EQ(Stop(*a), absl::ZeroDuration());
  EXPECT_TRUE(a->client.requests.empty());
}

TEST_F(LeaderElectorStopTest, AnAnswerThatComesAfterStopChangesNothing) {
  auto a = New("a");
  a->client.fault = [](const RestRequest&) { return Fault{.back = absl::Seconds(3)}; };
  a->elector->Start();
  loop_.RunFor(absl::Seconds(1));
  ASSERT_EQ(a->client.requests.size(), 1u);
  EXPECT_EQ(Stop(*a), absl::ZeroDuration());
  loop_.RunFor(absl::Minutes(1));
  EXPECT_EQ(a->client.requests.size(), 1u);
  EXPECT_EQ(a->elector->state(), State::kStopped);
  EXPECT_EQ(a->elector->status(), absl::UnavailableError("leader election has stopped"));
}

TEST_F(LeaderElectorStopTest, StopWhileAcquiringReleasesWhatMayHaveBeenAcquired) {
  auto a = New("a");
  a->client.fault = [](const RestRequest& request) {
    return Fault{.back = request.method == "PUT" ? absl::Seconds(3) : kMs};
  };
  a->elector->Start();
  loop_.RunFor(absl::Seconds(1));
  EXPECT_EQ(server_.spec().holderidentity(), "a");  // though the answer has not come
  EXPECT_EQ(a->led, 0);
  Stop(*a);
  EXPECT_EQ(server_.spec().holderidentity(), "");
  EXPECT_EQ(a->led, 0);
}

TEST_F(LeaderElectorStopTest, ReleaseTriesAgainAfterAConflictAndIsBounded) {
  auto a = Leader("a");
  int puts = 0;
  a->client.fault = [&](const RestRequest& request) {
    if (request.method == "PUT" && ++puts <= 2) server_.Edit([](Lease&) {});  // a new version
    return Fault();
  };
  Stop(*a);
  EXPECT_EQ(server_.spec().holderidentity(), "");
  EXPECT_EQ(puts, 3);

  auto b = Leader("b");
  b->LoseRequests();
  EXPECT_LE(Stop(*b), absl::Seconds(10));
  EXPECT_EQ(server_.spec().holderidentity(), "b");
  EXPECT_EQ(b->elector->state(), State::kStopped);
}

}  // namespace
}  // namespace mandate
