#include "manager/leader/leader_elector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "manager/leader/testing/leader_fixture.h"
#include "manager/object/time.h"

namespace mandate {
namespace {

using coordinationv1::Lease;
using testing::HasSubstr;

class LeaderElectorTest : public LeaderFixture {};

TEST_F(LeaderElectorTest, TakesAFreeLease) {
  auto a = New("a");
  EXPECT_FALSE(a->elector->status().ok());
  EXPECT_EQ(a->master(), 0);
  const absl::Time start = Now();
  a->elector->Start();
  loop_.RunFor(absl::Seconds(1));
  EXPECT_TRUE(a->leads());
  EXPECT_EQ(a->led, 1);
  EXPECT_EQ(a->master(), 1);
  EXPECT_TRUE(a->elector->status().ok());
  EXPECT_EQ(a->elector->holder(), "a");
  EXPECT_EQ(server_.spec().holderidentity(), "a");
  EXPECT_EQ(server_.spec().leasedurationseconds(), 15);
  EXPECT_EQ(server_.spec().leasetransitions(), 1);
  EXPECT_EQ(GetTime(server_.spec().acquiretime()), GetTime(server_.spec().renewtime()));
  EXPECT_GE(GetTime(server_.spec().renewtime()), start);
  EXPECT_EQ(server_.spec().renewtime().nanos() % 1000, 0);
}

TEST_F(LeaderElectorTest, RenewsEveryTwoSecondsWithOneUpdate) {
  auto a = Leader("a");
  const absl::Time acquired = GetTime(server_.spec().acquiretime());
  a->client.requests.clear();
  loop_.RunFor(absl::Seconds(60));
  EXPECT_EQ(a->client.requests.size(), 29u);  // 2 s and a round trip of 2 ms each
  absl::Time last = a->led_at;
  for (const auto& [time, request] : a->client.requests) {
    EXPECT_EQ(request.method, "PUT");
    EXPECT_GE(time - last, absl::Seconds(2));
    EXPECT_LE(time - last, absl::Seconds(2) + 2 * kMs);
    last = time;
  }
  EXPECT_EQ(GetTime(server_.spec().acquiretime()), acquired);
  EXPECT_GT(GetTime(server_.spec().renewtime()), acquired);
  EXPECT_EQ(server_.spec().leasetransitions(), 1);
  EXPECT_EQ(a->led, 1);
}

TEST_F(LeaderElectorTest, AFollowerReadsEveryTwoToFourAndAHalfSeconds) {
  auto a = Leader("a");
  auto b = Started("b");
  loop_.RunFor(absl::Minutes(10));
  EXPECT_EQ(b->elector->state(), State::kFollower);
  EXPECT_TRUE(b->elector->status().ok());  // standing by is well
  EXPECT_EQ(b->elector->holder(), "a");
  EXPECT_EQ(b->master(), 0);
  absl::Duration least = absl::InfiniteDuration(), most = absl::ZeroDuration();
  for (size_t i = 1; i < b->client.requests.size(); ++i) {
    EXPECT_EQ(b->client.requests[i].second.method, "GET");
    const absl::Duration pause = b->client.requests[i].first - b->client.requests[i - 1].first;
    least = std::min(least, pause);
    most = std::max(most, pause);
  }
  EXPECT_GE(least, absl::Seconds(2));
  EXPECT_LT(least, absl::Seconds(2.5));
  EXPECT_GT(most, absl::Seconds(3.9));
  EXPECT_LT(most, absl::Seconds(4.4) + 3 * kMs);
}

TEST_F(LeaderElectorTest, AFollowerTakesOverFromAKilledLeader) {
  auto a = Leader("a");
  auto b = Started("b");
  loop_.RunFor(absl::Minutes(1));
  const absl::Time killed = Now();
  a.reset();
  ASSERT_TRUE(loop_.RunUntil([&] { return b->leads(); }));
  EXPECT_GE(Now() - killed, absl::Seconds(13));  // 15 s after the last renewal was seen
  EXPECT_LE(Now() - killed, absl::Seconds(24));
  EXPECT_EQ(server_.spec().holderidentity(), "b");
  EXPECT_EQ(server_.spec().leasetransitions(), 2);
}

TEST_F(LeaderElectorTest, AnEditOfItsMetadataDoesNotProlongALease) {
  auto a = Leader("a");
  auto b = Started("b");
  loop_.RunFor(absl::Minutes(1));
  const absl::Time killed = Now();
  a.reset();
  loop_.RunFor(absl::Seconds(10));
  server_.Edit(
      [](Lease& lease) { (*lease.mutable_metadata()->mutable_annotations())["note"] = "text"; });
  ASSERT_TRUE(loop_.RunUntil([&] { return b->leads(); }));
  EXPECT_LE(Now() - killed, absl::Seconds(24));
}

TEST_F(LeaderElectorTest, OnlyTheLocalClockCounts) {
  for (const absl::Duration skew :
       {-absl::Hours(24), -absl::Seconds(20), absl::Seconds(20), absl::Hours(24)}) {
    SCOPED_TRACE(absl::FormatDuration(skew));
    auto a = Leader("a");
    auto b = Started("b", skew);
    loop_.RunFor(absl::Minutes(5));
    EXPECT_TRUE(a->leads());
    EXPECT_EQ(b->led, 0);
    const absl::Time killed = Now();
    a.reset();
    ASSERT_TRUE(loop_.RunUntil([&] { return b->leads(); }));
    EXPECT_GE(Now() - killed, absl::Seconds(13));
    EXPECT_LE(Now() - killed, absl::Seconds(24));
    Stop(*b);
  }
}

TEST_F(LeaderElectorTest, EachTransitionIsLoggedOnce) {
  auto a = New("a");
  a->RefuseConnections();
  a->elector->Start();
  loop_.RunFor(absl::Minutes(1));
  EXPECT_EQ(a->log->Count("Cannot acquire the Lease"), 1);
  // Another error is news, and so is the same one after a success.
  a->LoseRequests();
  loop_.RunFor(absl::Minutes(1));
  EXPECT_EQ(a->log->Count("Cannot acquire the Lease"), 2);
  a->client.fault = nullptr;
  loop_.RunFor(absl::Seconds(10));
  ASSERT_TRUE(a->leads());
  EXPECT_EQ(a->log->Count("Leader election recovered from errors"), 1);
  EXPECT_EQ(a->log->Count("Became leader"), 1);
  a->RefuseConnections();
  loop_.RunFor(absl::Seconds(8));
  EXPECT_EQ(a->log->Count("Cannot renew the Lease"), 1);
  a->client.fault = nullptr;
  loop_.RunFor(absl::Seconds(10));
  EXPECT_EQ(a->log->Count("Leader election recovered from errors"), 2);
  // An edit costs a read before the next renewal, and no failure.
  server_.Edit([](Lease& lease) { (*lease.mutable_metadata()->mutable_labels())["x"] = "y"; });
  loop_.RunFor(absl::Seconds(10));
  EXPECT_EQ(a->log->Count("Leader election recovered from errors"), 2);
}

TEST_F(LeaderElectorTest, EachOtherHolderIsLoggedOnce) {
  constexpr char kOther[] = "Another process holds the Lease";
  auto a = Leader("a");
  EXPECT_EQ(a->log->Count(kOther), 0);
  auto b = Started("b");
  loop_.RunFor(absl::Minutes(1));
  EXPECT_EQ(b->log->Count(kOther), 1);
  EXPECT_EQ(b->log->Count("holder=a"), 1);
  server_.Edit([](Lease& lease) { lease.mutable_spec()->set_holderidentity("c"); });
  loop_.RunFor(absl::Seconds(10));
  EXPECT_EQ(b->log->Count(kOther), 2);
  EXPECT_EQ(b->log->Count("holder=c"), 1);
  Stop(*a);
}

// A follower that sees another's Lease after a failure has recovered, and that is no error.
TEST_F(LeaderElectorTest, AFollowerThatReadsTheLeaseAgainLogsNoError) {
  auto a = Leader("a");
  auto b = New("b");
  b->RefuseConnections();
  b->elector->Start();
  loop_.RunFor(absl::Seconds(10));
  b->client.fault = nullptr;
  loop_.RunFor(absl::Seconds(10));
  EXPECT_TRUE(b->elector->status().ok());
  EXPECT_EQ(b->log->Count("ERROR"), 1);
}

TEST_F(LeaderElectorTest, CreatesAMissingLease) {
  server_.Delete();
  auto a = Started("a"), b = Started("b");
  loop_.RunFor(absl::Seconds(1));
  EXPECT_NE(a->leads(), b->leads()) << "one of them";
}

TEST_F(LeaderElectorTest, ReportsAMissingLeaseThatItMayNotCreate) {
  server_.Delete();
  auto a = New("a");
  a->client.fault = [](const RestRequest& request) {
    Fault fault;
    if (request.method == "PATCH") fault.reply.emplace().code = 403;
    return fault;
  };
  a->elector->Start();
  loop_.RunFor(absl::Minutes(5));
  EXPECT_TRUE(absl::IsPermissionDenied(a->elector->status()));
  EXPECT_THAT(std::string(a->elector->status().message()),
              HasSubstr("verbs: [create, get, patch, update]"));
  EXPECT_EQ(a->log->Count("ERROR"), 1);
  a->client.fault = nullptr;
  loop_.RunFor(absl::Seconds(5));
  EXPECT_TRUE(a->leads());
}

// The leader creates the Lease again, and continues. The others wait as if the Lease existed.
TEST_F(LeaderElectorTest, ADeletedLeaseChangesNoLeader) {
  auto a = Leader("a");
  auto b = Started("b");
  loop_.RunFor(absl::Seconds(10));
  server_.Delete();
  loop_.RunFor(absl::Minutes(1));
  EXPECT_TRUE(a->leads());
  EXPECT_EQ(server_.spec().holderidentity(), "a");
  EXPECT_EQ(b->led, 0);
}

TEST_F(LeaderElectorTest, ADeletedLeaseOfADeadLeaderIsTakenAfterItsTime) {
  auto a = Leader("a");
  auto b = Started("b");
  loop_.RunFor(absl::Seconds(10));
  a->LoseRequests();
  server_.Delete();
  const absl::Time deleted = Now();
  ASSERT_TRUE(loop_.RunUntil([&] { return b->leads(); }, absl::Seconds(30)));
  EXPECT_GE(Now() - deleted, absl::Seconds(15));
  EXPECT_FALSE(a->leads());
}

TEST_F(LeaderElectorTest, RequestsHaveADeadlineOfHalfTheRenewDeadline) {
  auto a = New("a");
  a->LoseRequests();
  a->elector->Start();
  loop_.RunFor(absl::Seconds(4.9));
  EXPECT_EQ(a->client.requests.size(), 1u);
  EXPECT_TRUE(absl::IsUnavailable(a->elector->status()));
  loop_.RunFor(absl::Seconds(0.2));
  EXPECT_TRUE(absl::IsDeadlineExceeded(a->elector->status()));
}

// Every request is answered by what the server has committed, so only another history is older.
TEST_F(LeaderElectorTest, AnEarlierVersionTellsOfARestoredServer) {
  auto a = Leader("a");
  loop_.RunFor(absl::Minutes(1));
  EXPECT_EQ(a->restored, 0);
  a->client.fault = [](const RestRequest& request) -> Fault {
    if (request.method != "PUT") return {};
    HttpResponse reply;
    reply.code = 200;
    reply.content_type = "application/json";
    reply.body = R"({"metadata":{"resourceVersion":"1"},"spec":{"holderIdentity":"a"}})";
    return {.reply = std::move(reply)};
  };
  loop_.RunFor(absl::Seconds(5));
  EXPECT_EQ(a->restored, 1) << "and then the versions stay the same";
}

TEST_F(LeaderElectorTest, OptionsAreChecked) {
  LossyLeaseClient client(server_, loop_, absl::ZeroDuration());
  Metrics metrics;
  const auto with = [&](const std::function<void(LeaderElector::Options&)>& change) {
    LeaderElector::Options options;
    options.lease = {"system", "leader"};
    options.identity = "a";
    options.client = &client;
    options.metrics = &metrics;
    change(options);
    return LeaderElector::Create(options).status();
  };
  EXPECT_TRUE(with([](auto&) {}).ok());
  EXPECT_TRUE(with([](auto& o) { o.retry_period = absl::Seconds(8); }).ok());
  for (const auto& change : std::vector<std::function<void(LeaderElector::Options&)>>{
           [](auto& o) { o.identity = ""; },
           [](auto& o) { o.lease.ns = ""; },
           [](auto& o) { o.lease.name = ""; },
           [](auto& o) { o.client = nullptr; },
           [](auto& o) { o.metrics = nullptr; },
           [](auto& o) { o.lease_duration = absl::Seconds(10); },
           [](auto& o) { o.lease_duration = absl::Seconds(15.5); },
           [](auto& o) { o.retry_period = absl::Seconds(9); },
           [](auto& o) { o.retry_period = absl::ZeroDuration(); },
       }) {
    EXPECT_TRUE(absl::IsInvalidArgument(with(change)));
  }
}

}  // namespace
}  // namespace mandate
