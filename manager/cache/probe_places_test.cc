// How many probes are under way at once: the places of a pool.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "manager/cache/probe_budget.h"
#include "manager/cache/testing/probe_tickets.h"
#include "manager/core/strings.h"
#include "manager/core/testing/simulated_loop.h"

namespace mandate {
namespace {

using Urgency = ProbeBudget::Urgency;
using Flows = ProbeBudget::Flows;

// A flow that no other probe has.
Flows Another() {
  static int count = 0;
  return {StrCat("flow-", ++count)};
}

// A server that takes long for each answer does not get more of them at once.
TEST(ProbeBudgetPlacesTest, AProbeHasAPlaceUntilItsTicketEnds) {
  SimulatedLoop loop;
  Metrics metrics;
  ProbeBudget budget({.per_second = 100, .burst = 100, .max_under_way = 2}, loop, metrics);
  std::string ran;
  const auto ask = [&](const char* name, Urgency urgency, const char* component = "a") {
    return budget.Ask(component, Another(), urgency, [&ran, name] { ran += name; });
  };
  auto first = ask("1", Urgency::kPeriodic);
  auto second = ask("2", Urgency::kPeriodic);
  loop.RunReady();
  auto withdrawn = ask("w", Urgency::kPeriodic);
  const auto third = ask("3", Urgency::kPeriodic);
  const auto urgent = ask("R", Urgency::kRecheck);
  loop.RunReady();
  EXPECT_EQ(ran, "12");
  withdrawn.reset();
  // Another component has places of its own.
  const auto other = ask("o", Urgency::kPeriodic, "b");
  loop.RunFor(absl::Minutes(1));
  EXPECT_EQ(ran, "12o");
  EXPECT_EQ(loop.NextTimer(), absl::InfiniteFuture()) << "nothing is asked again and again";
  first.reset();
  loop.RunReady();
  EXPECT_EQ(ran, "12oR") << "access that the component has comes first";
  second.reset();
  loop.RunReady();
  EXPECT_EQ(ran, "12oR3");
}

// To deny access in a namespace with many or large RoleBindings takes a server seconds.
TEST(ProbeBudgetPlacesTest, SlowAnswersLeaveFewerPlaces) {
  SimulatedLoop loop;
  Metrics metrics;
  ProbeBudget budget({.per_second = 100, .burst = 100}, loop, metrics);
  ProbeTickets tickets;
  // How many places there are, when each has an answer after this time.
  const auto places = [&](absl::Duration answer) {
    while (auto ticket = budget.Begin("a", Another(), "secrets."))
      tickets.push_back(std::move(ticket));
    const size_t count = tickets.size();
    loop.RunFor(answer);
    AnswerAll(tickets);
    return count;
  };
  EXPECT_EQ(places(absl::Seconds(1)), 4u) << "at first";
  EXPECT_EQ(places(absl::Seconds(1)), 8u);
  EXPECT_EQ(places(absl::Seconds(1)), 16u);
  EXPECT_EQ(places(absl::Seconds(1)), 32u);
  EXPECT_EQ(places(absl::Seconds(1.1)), 32u) << "no more than these";
  EXPECT_EQ(places(absl::Seconds(1.1)), 2u) << "no fewer than these";
  EXPECT_EQ(places(absl::Seconds(1)), 2u);
  EXPECT_EQ(places(absl::Seconds(1)), 4u);
}

// A probe that waits runs when fewer than all places are taken.
TEST(ProbeBudgetPlacesTest, AProbeWaitsUntilThereAreFewerThanThePlaces) {
  SimulatedLoop loop;
  Metrics metrics;
  ProbeBudget budget({.per_second = 100, .burst = 100}, loop, metrics);
  ProbeTickets tickets;
  while (auto ticket = budget.Begin("a", Another(), "")) tickets.push_back(std::move(ticket));
  bool ran = false;
  const auto waiting = budget.Ask("a", Another(), Urgency::kFirst, [&] { ran = true; });
  loop.RunFor(absl::Seconds(2));
  while (tickets.size() > 2) {
    tickets.pop_back();
    loop.RunReady();
    EXPECT_FALSE(ran) << tickets.size() << " are under way";
  }
  tickets.pop_back();
  loop.RunReady();
  EXPECT_TRUE(ran);
}

TEST(ProbeBudgetPlacesTest, AProbeWithoutAnAnswerGivesItsPlaceToAnother) {
  SimulatedLoop loop;
  Metrics metrics;
  ProbeBudget budget({.per_second = 100,
                      .burst = 100,
                      .max_under_way = 5,
                      .min_under_way = 2,
                      .hung_after = absl::Seconds(10)},
                     loop, metrics);
  ProbeTickets tickets;
  tickets.push_back(budget.Begin("a", Another(), "pods."));
  tickets.push_back(budget.Begin("a", Another(), "pods."));
  size_t ran = 0;
  for (int i = 0; i < 10; ++i) {
    tickets.push_back(budget.Ask(
        "a", Another(), Urgency::kFirst, [&] { ++ran; }, "pods."));
  }
  loop.RunFor(absl::Seconds(9.9));
  EXPECT_EQ(ran, 0u);
  loop.RunFor(absl::Seconds(0.2));
  EXPECT_EQ(ran, 2u);
  loop.RunFor(absl::Minutes(1));
  EXPECT_EQ(ran, 3u) << "5 are unanswered";
  for (size_t ended = 0; ended < 2; ++ended) {
    tickets[ended].reset();
    loop.RunReady();
    EXPECT_EQ(ran, 4 + ended);
  }
  // All end, those that had given their place and those that have one: 2 places are left.
  loop.RunFor(absl::Seconds(2));
  AnswerAll(tickets);
  loop.RunReady();
  EXPECT_NE(tickets.emplace_back(budget.Begin("a", Another(), "pods.")), nullptr);
  EXPECT_NE(tickets.emplace_back(budget.Begin("a", Another(), "pods.")), nullptr);
  EXPECT_EQ(budget.Begin("a", Another(), "pods."), nullptr);
}

// A server that needs more than `hung_after` for an answer works on those that have given their
// place to others, too.
TEST(ProbeBudgetPlacesTest, ProbesWithoutAnAnswerLeaveFewerPlaces) {
  SimulatedLoop loop;
  Metrics metrics;
  ProbeBudget budget({.per_second = 100, .burst = 100}, loop, metrics);
  ProbeTickets tickets;
  const auto fill = [&] {
    while (auto ticket = budget.Begin("a", Another(), "")) tickets.push_back(std::move(ticket));
  };
  fill();
  AnswerAll(tickets);
  fill();
  ASSERT_EQ(tickets.size(), 8u);
  for (size_t more = 2; more <= 8; more += 2) {
    loop.RunFor(absl::Seconds(15));
    fill();
    EXPECT_EQ(tickets.size(), 8 + more);
  }
}

// A kind that the server does not answer does not keep other kinds waiting.
TEST(ProbeBudgetPlacesTest, EachPoolOfAComponentHasPlacesOfItsOwn) {
  SimulatedLoop loop;
  Metrics metrics;
  ProbeBudget budget({.per_second = 100, .burst = 100, .max_under_way = 1}, loop, metrics);
  std::string ran;
  auto first = budget.Begin("a", Another(), "pods.");
  EXPECT_NE(first, nullptr);
  EXPECT_EQ(budget.Begin("a", Another(), "pods."), nullptr);
  const auto other = budget.Begin("a", Another(), "secrets.");
  EXPECT_NE(other, nullptr);
  auto waiting = budget.Ask(
      "a", Another(), Urgency::kFirst, [&] { ran += "w"; }, "pods.");
  const auto review = budget.Ask("a", Another(), Urgency::kFirst, [&] { ran += "r"; });
  loop.RunReady();
  EXPECT_EQ(ran, "r");
  const auto counted = [&] {
    return metrics
        .Gauge("mandate_cache_probes_waiting", "", {{"identity", "a"}, {"reason", "first"}})
        .Value();
  };
  EXPECT_EQ(counted(), 1);
  first.reset();
  EXPECT_EQ(budget.Begin("a", Another(), "pods."), nullptr) << "others wait for the place";
  loop.RunReady();
  EXPECT_EQ(ran, "rw");
  EXPECT_EQ(counted(), 0);
  waiting.reset();
  EXPECT_NE(budget.Begin("a", Another(), "pods."), nullptr);
}

TEST(ProbeBudgetPlacesTest, ManyOfOneReasonDoNotKeepTheOthersFromTheirPlaces) {
  SimulatedLoop loop;
  Metrics metrics;
  ProbeBudget budget({.per_second = 100, .burst = 100, .max_under_way = 1}, loop, metrics);
  std::string ran;
  ProbeTickets tickets;
  size_t under_way = 0;
  const auto ask = [&](char name, Urgency urgency) {
    tickets.push_back(budget.Ask("a", {}, urgency, [&, name, i = tickets.size()] {
      ran += name;
      under_way = i;
    }));
  };
  for (int i = 0; i < 100; ++i) ask('f', Urgency::kFirst);
  ask('h', Urgency::kHint);
  ask('p', Urgency::kPeriodic);
  for (int i = 0; i < 10; ++i) {
    loop.RunReady();
    tickets[under_way].reset();
  }
  EXPECT_NE(ran.find('h'), ran.npos) << ran;
  EXPECT_NE(ran.find('p'), ran.npos) << ran;
}

TEST(ProbeBudgetPlacesTest, AProbeThatDropsItsTicketHasNone) {
  SimulatedLoop loop;
  Metrics metrics;
  ProbeBudget budget({.per_second = 100, .burst = 100, .max_under_way = 1}, loop, metrics);
  ProbeTickets tickets(10);
  int ran = 0;
  for (auto& ticket : tickets) {
    ticket = budget.Ask("a", Another(), Urgency::kReopen, [&] {
      ++ran;
      ticket.reset();
    });
  }
  loop.RunReady();
  EXPECT_EQ(ran, 10);
}

// Such an answer is late, whatever its probe has given away.
TEST(ProbeBudgetPlacesTest, AnAnswerAfterThePlaceWasGivenAwayLeavesFewerPlaces) {
  SimulatedLoop loop;
  Metrics metrics;
  ProbeBudget budget({.per_second = 100, .burst = 100, .max_under_way = 64}, loop, metrics);
  auto hung = budget.Begin("a", Another(), "");
  loop.RunFor(absl::Seconds(16));
  hung.reset();
  ProbeTickets tickets;
  while (auto ticket = budget.Begin("a", Another(), "")) tickets.push_back(std::move(ticket));
  EXPECT_EQ(tickets.size(), 2u) << "8 at first, then 4, then 2";
}

TEST(ProbeBudgetPlacesTest, AProbeHangsBeforeItsAnswerIsLate) {
  SimulatedLoop loop;
  Metrics metrics;
  ProbeBudget budget({.per_second = 100,
                      .burst = 100,
                      .max_under_way = 2,
                      .min_under_way = 1,
                      .slow_after = absl::Minutes(1),
                      .hung_after = absl::Seconds(10)},
                     loop, metrics);
  const auto hung = budget.Begin("a", Another(), "");
  EXPECT_EQ(budget.Begin("a", Another(), ""), nullptr);
  loop.RunFor(absl::Seconds(11));
  EXPECT_NE(budget.Begin("a", Another(), ""), nullptr);
}

}  // namespace
}  // namespace mandate
