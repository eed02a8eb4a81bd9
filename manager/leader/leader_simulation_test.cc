// Several processes, one Lease, and everything that can go wrong with requests and processes: never
// two leaders at once, and soon one when the trouble ends.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "manager/core/strings.h"
#include "manager/leader/testing/leader_fixture.h"

namespace mandate {
namespace {

using State = LeaderElector::State;
using Fault = LossyLeaseClient::Fault;

class LeaderSimulation : public testing::TestWithParam<int> {
 protected:
  struct Process : ElectingProcess {
    using ElectingProcess::ElectingProcess;
    bool cut_off = false;
    bool slow = false;
  };

  LeaderSimulation() : random_(static_cast<uint64_t>(GetParam())) { server_.Create(); }

  uint64_t Pick(uint64_t n) { return random_() % n; }
  absl::Duration Delay(int64_t most_ms) {
    return absl::Milliseconds(static_cast<int64_t>(Pick(static_cast<uint64_t>(most_ms))));
  }

  Fault Trouble(const Process& process) {
    if (calm_) return {};
    if (process.cut_off || Pick(12) == 0) return {.lost = true};
    if (Pick(12) == 0) return {.reply_lost = true};
    if (Pick(12) == 0) return {.error = absl::UnavailableError("connection refused")};
    if (Pick(6) == 0) return {.there = Delay(9000), .back = Delay(9000)};
    // The server acts at once, and its answer comes just in time.
    if (process.slow) return {.there = Delay(5), .back = absl::Seconds(4) + Delay(990)};
    return {.there = Delay(50), .back = Delay(50)};
  }

  void Spawn(size_t slot) {
    const auto skew = absl::Seconds(static_cast<int64_t>(Pick(200'000)) - 100'000);
    auto process =
        std::make_unique<Process>(server_, loop_, StrCat("p", ++spawned_, "-", GetParam()), skew);
    process->client.fault = [this, raw = process.get()](const RestRequest&) {
      return Trouble(*raw);
    };
    process->on_leading = [this] { CheckOneLeader(); };
    process->elector->Start();
    processes_[slot] = std::move(process);
  }

  // The client stays: requests of a killed process still travel.
  void Kill(size_t slot) {
    processes_[slot]->elector.reset();
    processes_[slot]->client.fault = nullptr;
    graveyard_.push_back(std::move(processes_[slot]));
  }

  void CheckOneLeader() {
    std::vector<std::string> leaders;
    for (const auto& process : processes_) {
      if (process != nullptr && process->elector->state() == State::kLeader) {
        leaders.push_back(process->elector->holder());
      }
    }
    EXPECT_EQ(leaders.size(), 1u) << testing::PrintToString(leaders);
    ++elections_;
  }

  std::mt19937_64 random_;
  SimulatedLoop loop_;
  LeaseServer server_{loop_};
  bool calm_ = false;
  int spawned_ = 0;
  int elections_ = 0;
  std::vector<std::unique_ptr<Process>> processes_{3};
  std::vector<std::unique_ptr<Process>> graveyard_;
};

TEST_P(LeaderSimulation, NeverTwoLeadersAndAlwaysOneAgain) {
  for (size_t slot = 0; slot < processes_.size(); ++slot) Spawn(slot);
  for (int step = 0; step < 150; ++step) {
    const size_t slot = Pick(processes_.size());
    Process& process = *processes_[slot];
    switch (Pick(8)) {
      case 0:
        if (Pick(3) != 0) break;
        Kill(slot);
        Spawn(slot);
        break;
      case 1: {
        bool stopped = false;
        process.elector->Stop([&] { stopped = true; });
        ASSERT_TRUE(loop_.RunUntil([&] { return stopped; }, absl::Seconds(11)));
        Kill(slot);
        Spawn(slot);
        break;
      }
      case 2:
      case 3:
        process.cut_off = !process.cut_off;
        break;
      case 4:
      case 5:
        process.slow = !process.slow;
        break;
      default:
        break;
    }
    // A process that lost its lease ends, and is started anew.
    for (size_t i = 0; i < processes_.size(); ++i) {
      if (processes_[i]->elector->state() == State::kLost) {
        Kill(i);
        Spawn(i);
      }
    }
    loop_.RunFor(Delay(10'000));
  }
  calm_ = true;
  for (const auto& process : processes_) process->cut_off = false;
  // Requests that crawl still arrive; then a lease runs out, and someone tries.
  loop_.RunFor(absl::Seconds(18 + 15 + 5 + 5));
  int leaders = 0;
  for (const auto& process : processes_) leaders += process->elector->state() == State::kLeader;
  EXPECT_EQ(leaders, 1);
  EXPECT_GT(elections_, 3);
}

INSTANTIATE_TEST_SUITE_P(Seeds, LeaderSimulation, testing::Range(1, 300));

}  // namespace
}  // namespace mandate
