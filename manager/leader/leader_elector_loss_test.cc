// What ends the leadership of a process, and what does not.
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

class LeaderElectorLossTest : public LeaderFixture {};

TEST_F(LeaderElectorLossTest, ALeaderThatCannotRenewEndsBeforeOthersTakeOver) {
  auto a = Leader("a");
  auto b = New("b");
  b->elector->Start();
  loop_.RunFor(absl::Minutes(1));
  const absl::Time cut = Now();
  a->client.fault = [](const RestRequest&) { return Fault{.lost = true}; };
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
  a->client.fault = [](const RestRequest&) { return Fault{.lost = true}; };
  ASSERT_TRUE(loop_.RunUntil([&] { return !a->lost.empty(); }));
  EXPECT_LT(Now() - renewed, absl::Seconds(15));
}

TEST_F(LeaderElectorLossTest, ABriefFailureIsSurvived) {
  auto a = Leader("a");
  a->client.fault = [](const RestRequest&) {
    return Fault{.error = absl::UnavailableError("connection refused")};
  };
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

}  // namespace
}  // namespace mandate
