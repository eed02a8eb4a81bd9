#include "manager/cache/probe_budget.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "manager/core/testing/simulated_loop.h"

namespace mandate {
namespace {

using Urgency = ProbeBudget::Urgency;

class ProbeBudgetTest : public testing::Test {
 protected:
  std::unique_ptr<ProbeBudget::Ticket> Ask(const std::string& name, Urgency urgency,
                                           const std::string& component = "a",
                                           const ProbeBudget::Flows& flows = {}) {
    return budget_.Ask(component, flows, urgency, [this, name] { ran_ += name; });
  }
  std::string Take() { return std::exchange(ran_, ""); }
  static Labels Of(const std::string& reason) { return {{"identity", "a"}, {"reason", reason}}; }
  double Waiting(const std::string& reason = "periodic") {
    return metrics_.Gauge("mandate_cache_probes_waiting", "", Of(reason)).Value();
  }
  double Total(const std::string& reason = "periodic") {
    return metrics_.Counter("mandate_cache_probes_total", "", Of(reason)).Value();
  }

  SimulatedLoop loop_;
  Metrics metrics_;
  ProbeBudget budget_{{.per_second = 2,
                       .burst = 3,
                       .hints = {.per_second = 4, .burst = 4},
                       .rechecks = {.per_second = 10, .burst = 5},
                       // Places for all of these tests.
                       .min_under_way = 32,
                       .slow_after = absl::Hours(10),
                       .hung_after = absl::Hours(10)},
                      loop_,
                      metrics_};
  std::string ran_;
  std::vector<std::unique_ptr<ProbeBudget::Ticket>> tickets_;
};

TEST_F(ProbeBudgetTest, FlowsTakeTurns) {
  for (const Urgency urgency : {Urgency::kPeriodic, Urgency::kHint, Urgency::kRecheck}) {
    for (int i = 0; i < 100; ++i) tickets_.push_back(Ask("x", urgency, "a", {"one"}));
    tickets_.push_back(Ask("Y", urgency, "a", {"other"}));
    loop_.RunReady();
    EXPECT_EQ(Take().substr(0, 3), "xYx");
    tickets_.clear();
    loop_.RunFor(absl::Minutes(1));
  }
}

TEST_F(ProbeBudgetTest, AProbeTakesTheFirstTurnOfItsFlows) {
  for (int i = 0; i < 100; ++i) tickets_.push_back(Ask("x", Urgency::kHint, "a", {"one"}));
  tickets_.push_back(Ask("B", Urgency::kHint, "a", {"one", "other"}));
  EXPECT_EQ(Waiting("hint"), 0) << "nothing has been counted yet";
  loop_.RunReady();
  EXPECT_EQ(Take(), "xBxx");
  EXPECT_EQ(Waiting("hint"), 97) << "its second place is gone";
}

TEST_F(ProbeBudgetTest, AProbeInSeveralFlowsRunsAndCountsOnce) {
  for (const char* name : {"1", "2", "3", "4", "5"}) {
    tickets_.push_back(Ask(name, Urgency::kPeriodic, "a", {"p", "q", "r"}));
  }
  loop_.RunReady();
  EXPECT_EQ(Take(), "123");
  EXPECT_EQ(Waiting(), 2);
  loop_.RunFor(absl::Minutes(1));
  EXPECT_EQ(Take(), "45");
  EXPECT_EQ(Total(), 5);
  EXPECT_EQ(Waiting(), 0);
}

TEST_F(ProbeBudgetTest, AWaitingProbeJoinsFurtherFlows) {
  for (int i = 0; i < 100; ++i) tickets_.push_back(Ask("x", Urgency::kPeriodic, "a", {"one"}));
  tickets_.push_back(Ask("B", Urgency::kPeriodic, "a", {"one"}));
  loop_.RunReady();
  EXPECT_EQ(Take(), "xxx");
  tickets_.back()->Join({"one", "other"});
  loop_.RunFor(absl::Seconds(1.1));
  EXPECT_EQ(Take(), "xB");
  // It is over: it takes no turn of others any more.
  tickets_.back()->Join({"third"});
  tickets_.erase(tickets_.begin() + 4, tickets_.end() - 1);
  loop_.RunFor(absl::Minutes(1));
  EXPECT_EQ(Take(), "");
  EXPECT_EQ(Total(), 5);
}

TEST_F(ProbeBudgetTest, ABurstAndThenTheRate) {
  for (const char* name : {"1", "2", "3", "4", "5", "6"}) {
    tickets_.push_back(Ask(name, Urgency::kPeriodic));
  }
  EXPECT_EQ(Take(), "") << "never inside the call";
  loop_.RunReady();
  EXPECT_EQ(Take(), "123");
  EXPECT_EQ(Waiting(), 3);
  loop_.RunFor(absl::Seconds(0.4));
  EXPECT_EQ(Take(), "");
  loop_.RunFor(absl::Seconds(0.2));
  EXPECT_EQ(Take(), "4");
  loop_.RunFor(absl::Seconds(1));
  EXPECT_EQ(Take(), "56");
  EXPECT_EQ(Waiting(), 0);
  EXPECT_EQ(Total(), 6);
  tickets_.clear();
  EXPECT_EQ(loop_.NextTimer(), absl::InfiniteFuture()) << "nothing waits";
  // A quiet time fills the burst again, and no more.
  loop_.RunFor(absl::Hours(1));
  for (const char* name : {"1", "2", "3", "4"}) tickets_.push_back(Ask(name, Urgency::kPeriodic));
  loop_.RunReady();
  EXPECT_EQ(Take(), "123");
}

TEST_F(ProbeBudgetTest, ThePoolsOfAComponentShareItsRateInTurn) {
  const auto ask = [&](const char* name, const char* pool) {
    tickets_.push_back(budget_.Ask(
        "a", {}, Urgency::kPeriodic, [this, name] { ran_ += name; }, pool));
  };
  for (int i = 0; i < 100; ++i) ask("p", "pods.");
  for (int i = 0; i < 100; ++i) ask("s", "secrets.");
  for (int i = 0; i < 100; ++i) ask("r", "");
  loop_.RunReady();
  EXPECT_EQ(Take(), "ppp") << "the burst";
  loop_.RunFor(absl::Seconds(3.1));
  const std::string ran = Take();
  EXPECT_EQ(ran.size(), 6u) << ran;
  for (const char pool : {'p', 's', 'r'}) EXPECT_EQ(std::ranges::count(ran, pool), 2) << ran;
}

TEST_F(ProbeBudgetTest, ALongQueueIsCountedEachSecond) {
  for (int i = 0; i < 2000; ++i) tickets_.push_back(Ask("x", Urgency::kHint));
  loop_.RunReady();
  EXPECT_EQ(Waiting("hint"), 1996);
  tickets_.resize(1000);
  loop_.RunFor(absl::Seconds(2));
  EXPECT_LE(Waiting("hint"), 996);
  EXPECT_GE(Waiting("hint"), 980);
}

TEST_F(ProbeBudgetTest, EachReasonHasABudgetOfItsOwn) {
  for (int i = 0; i < 8; ++i) {
    tickets_.push_back(Ask("p", Urgency::kPeriodic));
    tickets_.push_back(Ask("h", Urgency::kHint));
    tickets_.push_back(Ask("r", Urgency::kRecheck));
  }
  loop_.RunReady();
  std::string ran = Take();
  std::ranges::sort(ran);
  EXPECT_EQ(ran, "hhhhppprrrrr");
  EXPECT_EQ(Waiting("hint"), 4);
  loop_.RunFor(absl::Seconds(0.51));
  ran = Take();
  std::ranges::sort(ran);
  EXPECT_EQ(ran, "hhprrr");
  EXPECT_EQ(Total("recheck"), 8);
  EXPECT_EQ(Total("hint"), 6);
  EXPECT_EQ(Total("periodic"), 4);
}

TEST_F(ProbeBudgetTest, AWithdrawnProbeCostsNothing) {
  for (const char* name : {"1", "2", "3", "4", "5"}) {
    tickets_.push_back(Ask(name, Urgency::kPeriodic));
  }
  tickets_.erase(tickets_.begin(), tickets_.begin() + 3);
  loop_.RunReady();
  EXPECT_EQ(Take(), "45");
}

TEST_F(ProbeBudgetTest, AWithdrawnProbeIsNotCounted) {
  for (const char* name : {"1", "2", "3", "4", "5", "6"}) {
    tickets_.push_back(Ask(name, Urgency::kPeriodic));
  }
  tickets_.resize(4);
  loop_.RunReady();
  EXPECT_EQ(Take(), "123");
  EXPECT_EQ(Waiting(), 1);
}

TEST_F(ProbeBudgetTest, AProbeMayDestroyItsTicketAndAskAgain) {
  std::unique_ptr<ProbeBudget::Ticket> ticket;
  int runs = 0;
  std::function<void()> probe = [&] {
    ticket.reset();
    if (++runs < 5) ticket = budget_.Ask("a", {}, Urgency::kPeriodic, probe);
  };
  ticket = budget_.Ask("a", {}, Urgency::kPeriodic, probe);
  loop_.RunFor(absl::Seconds(10));
  EXPECT_EQ(runs, 5);
}

TEST_F(ProbeBudgetTest, EachComponentHasItsOwnBudget) {
  for (int i = 0; i < 100; ++i) tickets_.push_back(Ask("x", Urgency::kHint));
  tickets_.push_back(Ask("b", Urgency::kPeriodic, "b"));
  loop_.RunReady();
  EXPECT_EQ(Take(), "xxxxb");
}

TEST_F(ProbeBudgetTest, AQueueThatRunsEmptyCostsNothing) {
  for (const char* name : {"1", "2", "3"}) {
    tickets_.push_back(Ask(name, Urgency::kPeriodic));
    loop_.RunReady();
  }
  EXPECT_EQ(Take(), "123") << "a burst of 3, one after the other";
}

}  // namespace
}  // namespace mandate
