#include "manager/leader/leader_elector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "manager/core/testing/log_capture.h"
#include "manager/core/testing/simulated_loop.h"
#include "manager/leader/testing/fake_lease_server.h"
#include "manager/object/time.h"

namespace mandate {
namespace {

using coordinationv1::Lease;
using testing::HasSubstr;
using State = LeaderElector::State;
using Fault = FakeLeaseClient::Fault;

constexpr absl::Duration kMs = absl::Milliseconds(1);

// One process.
struct Process {
  Process(FakeLeaseServer& server, SimulatedLoop& loop, const std::string& identity,
          absl::Duration skew = absl::ZeroDuration())
      : client(server, loop, skew) {
    auto created = LeaderElector::Create(
        {.lease = {"system", "leader"},
         .identity = identity,
         .client = &client,
         .metrics = &metrics,
         .log = Logger(log, loop.clock()),
         .seed = std::hash<std::string>()(identity),
         .on_leading = [this, &loop] { led_at = loop.clock().TimeNow(), ++led; },
         .on_lost =
             [this, &loop](const absl::Status& status) {
               lost_at = loop.clock().TimeNow();
               lost.push_back(status);
             }});
    EXPECT_TRUE(created.ok()) << created.status();
    elector = *std::move(created);
  }
  double master() {
    return metrics.Gauge("leader_election_master_status", "", {{"name", "leader"}}).Value();
  }
  bool leads() const { return elector->state() == State::kLeader; }

  FakeLeaseClient client;
  Metrics metrics;
  std::shared_ptr<LogCapture> log = std::make_shared<LogCapture>();
  std::unique_ptr<LeaderElector> elector;
  int led = 0;
  absl::Time led_at, lost_at;
  std::vector<absl::Status> lost;
};

class LeaderElectorTest : public testing::Test {
 protected:
  LeaderElectorTest() { server_.Create(); }

  std::unique_ptr<Process> New(const std::string& identity,
                               absl::Duration skew = absl::ZeroDuration()) {
    return std::make_unique<Process>(server_, loop_, identity, skew);
  }
  std::unique_ptr<Process> Leader(const std::string& identity) {
    auto process = New(identity);
    process->elector->Start();
    EXPECT_TRUE(loop_.RunUntil([&] { return process->leads(); }, absl::Seconds(30)));
    return process;
  }
  // Runs until it is done; how long that took.
  absl::Duration Stop(Process& process) {
    const absl::Time start = Now();
    bool done = false;
    process.elector->Stop([&] { done = true; });
    EXPECT_FALSE(done);
    EXPECT_TRUE(loop_.RunUntil([&] { return done; }));
    return Now() - start;
  }
  absl::Time Now() const { return loop_.clock().TimeNow(); }

  SimulatedLoop loop_;
  FakeLeaseServer server_;
};

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
  auto b = New("b");
  b->elector->Start();
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
  auto b = New("b");
  b->elector->Start();
  loop_.RunFor(absl::Minutes(1));
  const absl::Time killed = Now();
  a.reset();
  ASSERT_TRUE(loop_.RunUntil([&] { return b->leads(); }));
  EXPECT_GE(Now() - killed, absl::Seconds(13));  // 15 s after the last renewal was seen
  EXPECT_LE(Now() - killed, absl::Seconds(24));
  EXPECT_EQ(server_.spec().holderidentity(), "b");
  EXPECT_EQ(server_.spec().leasetransitions(), 2);
}

TEST_F(LeaderElectorTest, OnlyTheLocalClockCounts) {
  for (const absl::Duration skew :
       {-absl::Hours(24), -absl::Seconds(20), absl::Seconds(20), absl::Hours(24)}) {
    SCOPED_TRACE(absl::FormatDuration(skew));
    auto a = Leader("a");
    auto b = New("b", skew);
    b->elector->Start();
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

TEST_F(LeaderElectorTest, ReleasesWhenStopped) {
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

TEST_F(LeaderElectorTest, StopOfAFollowerSendsNothing) {
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

TEST_F(LeaderElectorTest, StopBeforeStart) {
  auto a = New("a");
  EXPECT_EQ(Stop(*a), absl::ZeroDuration());
  EXPECT_TRUE(a->client.requests.empty());
}

TEST_F(LeaderElectorTest, StopBeforeTheFirstRequestSendsNothing) {
  auto a = New("a");
  a->elector->Start();
  EXPECT_EQ(Stop(*a), absl::ZeroDuration());
  EXPECT_TRUE(a->client.requests.empty());
}

TEST_F(LeaderElectorTest, AnAnswerThatComesAfterStopChangesNothing) {
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

TEST_F(LeaderElectorTest, StopWhileAcquiringReleasesWhatMayHaveBeenAcquired) {
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

TEST_F(LeaderElectorTest, ReleaseTriesAgainAfterAConflictAndIsBounded) {
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

TEST_F(LeaderElectorTest, ALeaderThatCannotRenewGivesUpBeforeOthersTakeOver) {
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
  EXPECT_THAT(std::string(a->lost[0].message()), HasSubstr("leader election lost"));
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
TEST_F(LeaderElectorTest, SlowAnswersShortenTheHold) {
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

TEST_F(LeaderElectorTest, ABriefFailureIsSurvived) {
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

TEST_F(LeaderElectorTest, AnEditedLeaseIsReadAndRenewed) {
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

TEST_F(LeaderElectorTest, ALeaseTakenAwayIsLostAtOnce) {
  auto a = Leader("a");
  server_.Edit([](Lease& lease) { lease.mutable_spec()->set_holderidentity("thief"); });
  loop_.RunFor(absl::Seconds(3));
  EXPECT_EQ(a->elector->state(), State::kLost);
  ASSERT_EQ(a->lost.size(), 1u);
  EXPECT_THAT(std::string(a->lost[0].message()), HasSubstr("thief has taken the Lease"));
}

// The times in the Lease come from another clock, so they do not tell whether it has expired.
TEST_F(LeaderElectorTest, ALeaseTakenAwayIsLostEvenIfItLooksExpired) {
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

TEST_F(LeaderElectorTest, EachTransitionIsLoggedOnce) {
  auto a = New("a");
  const auto refused = [](const RestRequest&) {
    return Fault{.error = absl::UnavailableError("connection refused")};
  };
  a->client.fault = refused;
  a->elector->Start();
  loop_.RunFor(absl::Minutes(1));
  EXPECT_EQ(a->log->Count("Cannot acquire the leader lease"), 1);
  // Another error is news, and so is the same one after a success.
  a->client.fault = [](const RestRequest&) { return Fault{.lost = true}; };
  loop_.RunFor(absl::Minutes(1));
  EXPECT_EQ(a->log->Count("Cannot acquire the leader lease"), 2);
  a->client.fault = nullptr;
  loop_.RunFor(absl::Seconds(10));
  ASSERT_TRUE(a->leads());
  EXPECT_EQ(a->log->Count("Reached the leader lease again"), 1);
  EXPECT_EQ(a->log->Count("Became leader"), 1);
  a->client.fault = refused;
  loop_.RunFor(absl::Seconds(8));
  EXPECT_EQ(a->log->Count("Cannot renew the leader lease"), 1);
  a->client.fault = nullptr;
  loop_.RunFor(absl::Seconds(10));
  EXPECT_EQ(a->log->Count("Reached the leader lease again"), 2);
  // An edit costs a read before the next renewal, and no failure.
  server_.Edit([](Lease& lease) { (*lease.mutable_metadata()->mutable_labels())["x"] = "y"; });
  loop_.RunFor(absl::Seconds(10));
  EXPECT_EQ(a->log->Count("Reached the leader lease again"), 2);
}

TEST_F(LeaderElectorTest, EachOtherHolderIsLoggedOnce) {
  constexpr char kOther[] = "Another process holds the leader lease";
  auto a = Leader("a");
  EXPECT_EQ(a->log->Count(kOther), 0);
  auto b = New("b");
  b->elector->Start();
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
  b->client.fault = [](const RestRequest&) {
    return Fault{.error = absl::UnavailableError("connection refused")};
  };
  b->elector->Start();
  loop_.RunFor(absl::Seconds(10));
  b->client.fault = nullptr;
  loop_.RunFor(absl::Seconds(10));
  EXPECT_TRUE(b->elector->status().ok());
  EXPECT_EQ(b->log->Count("ERROR"), 1);
}

TEST_F(LeaderElectorTest, AMissingLeaseIsSaidAndWaitedFor) {
  server_.Delete();
  auto a = New("a");
  a->elector->Start();
  loop_.RunFor(absl::Minutes(5));
  EXPECT_TRUE(absl::IsNotFound(a->elector->status()));
  EXPECT_THAT(std::string(a->elector->status().message()), HasSubstr("kind: Lease"));
  server_.Create();
  loop_.RunFor(absl::Seconds(5));
  EXPECT_TRUE(a->leads());
}

TEST_F(LeaderElectorTest, RequestsHaveADeadlineOfHalfTheRenewDeadline) {
  auto a = New("a");
  a->client.fault = [](const RestRequest&) { return Fault{.lost = true}; };
  a->elector->Start();
  loop_.RunFor(absl::Seconds(4.9));
  EXPECT_EQ(a->client.requests.size(), 1u);
  EXPECT_TRUE(absl::IsUnavailable(a->elector->status()));
  loop_.RunFor(absl::Seconds(0.2));
  EXPECT_TRUE(absl::IsDeadlineExceeded(a->elector->status()));
}

TEST_F(LeaderElectorTest, OptionsAreChecked) {
  FakeLeaseClient client(server_, loop_, absl::ZeroDuration());
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
