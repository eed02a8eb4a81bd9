#include "manager/cache/probe_budget.h"

#include <gtest/gtest.h>

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
                                           const std::string& component = "a") {
    return budget_.Ask(component, urgency, [this, name] { ran_ += name; });
  }
  std::string Take() { return std::exchange(ran_, ""); }
  double Waiting() {
    return metrics_.Gauge("mandate_cache_probes_waiting", "", {{"identity", "a"}}).Value();
  }

  SimulatedLoop loop_;
  Metrics metrics_;
  ProbeBudget budget_{
      {.per_second = 2, .burst = 3, .rechecks = {.per_second = 10, .burst = 5}}, loop_, metrics_};
  std::string ran_;
  std::vector<std::unique_ptr<ProbeBudget::Ticket>> tickets_;
};

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
  EXPECT_EQ(metrics_.Counter("mandate_cache_probes_total", "", {{"identity", "a"}}).Value(), 6);
  EXPECT_EQ(loop_.NextTimer(), absl::InfiniteFuture()) << "nothing waits";
  // A quiet time fills the burst again, and no more.
  loop_.RunFor(absl::Hours(1));
  for (const char* name : {"1", "2", "3", "4"}) tickets_.push_back(Ask(name, Urgency::kPeriodic));
  loop_.RunReady();
  EXPECT_EQ(Take(), "123");
}

TEST_F(ProbeBudgetTest, HintsGoFirst) {
  for (const char* name : {"1", "2", "3", "4"}) tickets_.push_back(Ask(name, Urgency::kPeriodic));
  loop_.RunReady();
  EXPECT_EQ(Take(), "123");
  tickets_.push_back(Ask("h", Urgency::kHint));
  tickets_.push_back(Ask("i", Urgency::kHint));
  loop_.RunFor(absl::Seconds(2));
  EXPECT_EQ(Take(), "hi4");
}

TEST_F(ProbeBudgetTest, HintsWithoutEndDoNotHoldUpPeriodicProbes) {
  for (int i = 0; i < 100; ++i) tickets_.push_back(Ask("h", Urgency::kHint));
  for (const char* name : {"1", "2"}) tickets_.push_back(Ask(name, Urgency::kPeriodic));
  loop_.RunFor(absl::Seconds(3.75));
  EXPECT_EQ(Take(), "hhhh1hhhh2");
}

TEST_F(ProbeBudgetTest, RechecksDoNotWaitForTheOthers) {
  for (int i = 0; i < 100; ++i) tickets_.push_back(Ask("h", Urgency::kHint));
  loop_.RunReady();
  EXPECT_EQ(Take(), "hhh");
  for (const char* name : {"1", "2", "3", "4", "5", "6", "7"}) {
    tickets_.push_back(Ask(name, Urgency::kRecheck));
  }
  loop_.RunReady();
  EXPECT_EQ(Take(), "12345") << "within a budget of their own";
  loop_.RunFor(absl::Seconds(0.21));
  EXPECT_EQ(Take(), "67");
  const Labels labels = {{"identity", "a"}};
  EXPECT_EQ(metrics_.Counter("mandate_cache_rechecks_total", "", labels).Value(), 7);
  EXPECT_EQ(metrics_.Gauge("mandate_cache_rechecks_waiting", "", labels).Value(), 0);
  EXPECT_EQ(metrics_.Counter("mandate_cache_probes_total", "", labels).Value(), 3);
}

TEST_F(ProbeBudgetTest, AWithdrawnProbeCostsNothing) {
  for (const char* name : {"1", "2", "3", "4", "5"}) {
    tickets_.push_back(Ask(name, Urgency::kPeriodic));
  }
  tickets_.erase(tickets_.begin(), tickets_.begin() + 3);
  loop_.RunReady();
  EXPECT_EQ(Take(), "45");
}

TEST_F(ProbeBudgetTest, AProbeMayDestroyItsTicketAndAskAgain) {
  std::unique_ptr<ProbeBudget::Ticket> ticket;
  int runs = 0;
  std::function<void()> probe = [&] {
    ticket.reset();
    if (++runs < 5) ticket = budget_.Ask("a", Urgency::kPeriodic, probe);
  };
  ticket = budget_.Ask("a", Urgency::kPeriodic, probe);
  loop_.RunFor(absl::Seconds(10));
  EXPECT_EQ(runs, 5);
}

TEST_F(ProbeBudgetTest, EachComponentHasItsOwnBudget) {
  for (int i = 0; i < 100; ++i) tickets_.push_back(Ask("x", Urgency::kHint));
  tickets_.push_back(Ask("b", Urgency::kPeriodic, "b"));
  loop_.RunReady();
  EXPECT_EQ(Take(), "xxxb");
}

}  // namespace
}  // namespace mandate
