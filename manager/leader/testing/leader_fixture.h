// Processes that elect a leader in simulated time, with one Lease on one server.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "manager/core/testing/log_capture.h"
#include "manager/core/testing/simulated_loop.h"
#include "manager/leader/leader_elector.h"
#include "manager/leader/testing/lease_server.h"

namespace mandate {

// One process. Single-threaded.
struct ElectingProcess {
  ElectingProcess(LeaseServer& server, SimulatedLoop& loop, const std::string& identity,
                  absl::Duration skew = absl::ZeroDuration())
      : client(server, loop, skew) {
    auto created = LeaderElector::Create(
        {.lease = {"system", "leader"},
         .identity = identity,
         .client = &client,
         .metrics = &metrics,
         .log = Logger(log, loop.clock()),
         .seed = std::hash<std::string>()(identity),
         .on_leading =
             [this, &loop] {
               led_at = loop.clock().TimeNow();
               ++led;
               if (on_leading) on_leading();
             },
         .on_lost = [this](const absl::Status& status) { lost.push_back(status); },
         .on_restored = [this] { ++restored; }});
    EXPECT_TRUE(created.ok()) << created.status();
    elector = *std::move(created);
  }
  // From now on no request is answered.
  void LoseRequests() {
    client.fault = [](const RestRequest&) { return LossyLeaseClient::Fault{.lost = true}; };
  }
  void RefuseConnections() {
    client.fault = [](const RestRequest&) {
      return LossyLeaseClient::Fault{.error = absl::UnavailableError("connection refused")};
    };
  }
  double master() {
    return metrics.Gauge("leader_election_master_status", "", {{"name", "leader"}}).Value();
  }
  bool leads() const { return elector->state() == LeaderElector::State::kLeader; }

  LossyLeaseClient client;
  Metrics metrics;
  std::shared_ptr<LogCapture> log = std::make_shared<LogCapture>();
  std::unique_ptr<LeaderElector> elector;
  std::function<void()> on_leading;
  int led = 0;
  absl::Time led_at;
  std::vector<absl::Status> lost;
  int restored = 0;
};

// Single-threaded.
class LeaderFixture : public testing::Test {
 protected:
  using State = LeaderElector::State;
  using Fault = LossyLeaseClient::Fault;
  static constexpr absl::Duration kMs = absl::Milliseconds(1);

  LeaderFixture() { server_.Create(); }

  std::unique_ptr<ElectingProcess> New(const std::string& identity,
                                       absl::Duration skew = absl::ZeroDuration()) {
    return std::make_unique<ElectingProcess>(server_, loop_, identity, skew);
  }
  std::unique_ptr<ElectingProcess> Started(const std::string& identity,
                                           absl::Duration skew = absl::ZeroDuration()) {
    auto process = New(identity, skew);
    process->elector->Start();
    return process;
  }
  std::unique_ptr<ElectingProcess> Leader(const std::string& identity) {
    auto process = Started(identity);
    EXPECT_TRUE(loop_.RunUntil([&] { return process->leads(); }, absl::Seconds(30)));
    return process;
  }
  // Runs until it is done; returns how long that took.
  absl::Duration Stop(ElectingProcess& process) {
    const absl::Time start = Now();
    bool done = false;
    process.elector->Stop([&] { done = true; });
    EXPECT_FALSE(done);
    EXPECT_TRUE(loop_.RunUntil([&] { return done; }));
    return Now() - start;
  }
  absl::Time Now() const { return loop_.clock().TimeNow(); }

  SimulatedLoop loop_;
  LeaseServer server_{loop_};
};

}  // namespace mandate
