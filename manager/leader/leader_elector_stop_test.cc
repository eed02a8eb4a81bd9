// How a process leaves the election when it stops: what it releases, and what it sends.
#include <gtest/gtest.h>

#include "manager/leader/leader_elector.h"
#include "manager/leader/testing/leader_fixture.h"
#include "manager/object/time.h"

namespace mandate {
namespace {

using coordinationv1::Lease;

class LeaderElectorStopTest : public LeaderFixture {};

TEST_F(LeaderElectorStopTest, ReleasesWhenStopped) {
  auto a = Leader("a");
  auto b = New("b");
  b->elector->Start();
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
  auto b = New("b");
  b->elector->Start();
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
  auto a = New("a");
  a->elector->Start();
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
  b->client.fault = [](const RestRequest&) { return Fault{.lost = true}; };
  EXPECT_LE(Stop(*b), absl::Seconds(10));
  EXPECT_EQ(server_.spec().holderidentity(), "b");
  EXPECT_EQ(b->elector->state(), State::kStopped);
}

}  // namespace
}  // namespace mandate
