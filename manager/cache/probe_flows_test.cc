// The places of a pool that the flows (the namespaces) have.
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

class ProbeFlowsTest : public testing::Test {
 protected:
  ProbeFlowsTest() { Make({.per_second = 100, .burst = 100}); }

  void Make(const ProbeBudget::Options& options) {
    budget_ = std::make_unique<ProbeBudget>(options, loop_, metrics_);
  }
  // Begins requests of the flow until it has no place. Returns how many.
  size_t Fill(const std::string& flow, ProbeTickets& tickets) {
    size_t count = 0;
    while (auto ticket = budget_->Begin("a", {flow}, "")) {
      tickets.push_back(std::move(ticket));
      ++count;
    }
    return count;
  }

  SimulatedLoop loop_;
  Metrics metrics_;
  std::unique_ptr<ProbeBudget> budget_;
};

// What the objects of one tenant make slow does not keep those of others waiting.
TEST_F(ProbeFlowsTest, AFlowLeavesAPlaceToOthers) {
  ProbeTickets tickets;
  size_t ran = 0;
  for (int i = 0; i < 100; ++i) {
    tickets.push_back(budget_->Ask("a", {"many"}, Urgency::kFirst, [&] { ++ran; }));
  }
  loop_.RunReady();
  EXPECT_EQ(ran, 3u) << "of 4 places";
  std::string other;
  tickets.push_back(budget_->Ask("a", {"many", "other"}, Urgency::kFirst, [&] { other += "1"; }));
  tickets.push_back(budget_->Ask("a", {"other"}, Urgency::kFirst, [&] { other += "2"; }));
  loop_.RunReady();
  EXPECT_EQ(other, "1") << "the place that is left";
  Answer(tickets[100]);
  loop_.RunReady();
  EXPECT_EQ(other, "12");
  EXPECT_EQ(ran, 4u) << "one place more, after an answer";
}

// A flow whose last answer took more than a second has one place.
TEST_F(ProbeFlowsTest, AFlowWithSlowAnswersHasOnePlace) {
  ProbeTickets slow, quick;
  const auto answer_quick_ones = [&] {
    for (int i = 0; i < 10; ++i) {
      Fill("quick", quick);
      loop_.RunFor(absl::Seconds(0.1));
      AnswerAll(quick);
    }
  };
  EXPECT_EQ(Fill("slow", slow), 3u);
  loop_.RunFor(absl::Seconds(1.1));
  AnswerAll(slow);
  answer_quick_ones();
  EXPECT_EQ(Fill("slow", slow), 1u);
  EXPECT_EQ(Fill("quick", quick), 31u) << "it takes no more than one of all";
  AnswerAll(quick);
  loop_.RunFor(absl::Seconds(1));
  AnswerAll(slow);
  answer_quick_ones();
  EXPECT_EQ(Fill("slow", slow), 31u) << "its last answer took no more than a second";
}

// So has one without an answer. What hangs gives its place to the flow's next one.
TEST_F(ProbeFlowsTest, AFlowWithoutAnAnswerHasOnePlace) {
  size_t ran = 0;
  ProbeTickets tickets;
  for (int i = 0; i < 100; ++i) {
    tickets.push_back(budget_->Ask("a", {"slow"}, Urgency::kHint, [&] { ++ran; }));
  }
  loop_.RunFor(absl::Seconds(14.9));
  EXPECT_EQ(ran, 3u);
  loop_.RunFor(absl::Seconds(0.2));
  EXPECT_EQ(ran, 4u);
  loop_.RunFor(absl::Seconds(15));
  EXPECT_EQ(ran, 5u);
}

TEST_F(ProbeFlowsTest, ARequestBeginsInAnyOfItsFlowsThatHasAPlace) {
  ProbeTickets tickets;
  ASSERT_EQ(Fill("many", tickets), 3u) << "of 4 places";
  EXPECT_NE(budget_->Begin("a", {"many", "other"}, ""), nullptr);
}

TEST_F(ProbeFlowsTest, AProbeTakesAPlaceOfTheFlowWhoseTurnItHad) {
  Make({.per_second = 100, .burst = 100, .max_under_way = 4, .min_under_way = 4});
  ProbeTickets tickets;
  Fill("many", tickets);
  const auto both = budget_->Ask("a", {"many", "other"}, Urgency::kHint, [] {});
  loop_.RunReady();
  tickets.pop_back();
  EXPECT_NE(budget_->Begin("a", {"many"}, ""), nullptr) << "the turn was that of the other";
}

TEST_F(ProbeFlowsTest, AnAnswerAfterThePlaceWasGivenAwayFreesNoPlaceOfItsFlow) {
  auto hung = budget_->Begin("a", {"one"}, "");
  loop_.RunFor(absl::Seconds(16));
  const auto next = budget_->Begin("a", {"one"}, "");
  ASSERT_NE(next, nullptr);
  hung.reset();
  EXPECT_EQ(budget_->Begin("a", {"one"}, ""), nullptr) << "it has one place, which is taken";
}

TEST_F(ProbeFlowsTest, ManySlowFlowsAreKeptInMind) {
  Make({.per_second = 100, .burst = 100, .min_under_way = 32});
  ProbeTickets tickets;
  const auto places = [&](const std::string& flow) {
    AnswerAll(tickets);
    return Fill(flow, tickets);
  };
  const auto note_slow = [&](size_t first, size_t count) {
    for (size_t i = first; i < first + count; ++i) {
      tickets.push_back(budget_->Begin("a", {StrCat("slow-", i)}, ""));
      ASSERT_NE(tickets.back(), nullptr);
      if (i % 20 != 19) continue;
      loop_.RunFor(absl::Seconds(1.1));
      AnswerAll(tickets);
    }
  };
  note_slow(0, 980);
  EXPECT_EQ(places("slow-0"), 1u);
  loop_.RunFor(absl::Seconds(1.1));
  AnswerAll(tickets);
  note_slow(980, 40);
  EXPECT_EQ(places("slow-0"), 31u) << "not for ever";
}

TEST_F(ProbeFlowsTest, AProbeThatJoinsAFlowWithAPlaceRuns) {
  ProbeTickets tickets;
  size_t ran = 0;
  for (int i = 0; i < 10; ++i) {
    tickets.push_back(budget_->Ask("a", {"many"}, Urgency::kFirst, [&] { ++ran; }));
  }
  loop_.RunReady();
  ASSERT_EQ(ran, 3u) << "of 4 places";
  tickets.back()->Join({"other"});
  loop_.RunFor(absl::Seconds(14));
  EXPECT_EQ(ran, 4u) << "the place that is left";
}

TEST_F(ProbeFlowsTest, WhatHangsOfOneFlowLeavesAPlaceToOthers) {
  ProbeTickets tickets;
  size_t ran = 0;
  for (int i = 0; i < 100; ++i) {
    tickets.push_back(budget_->Ask("a", {"slow"}, Urgency::kFirst, [&] { ++ran; }));
  }
  loop_.RunFor(absl::Minutes(20));
  bool other = false;
  tickets.push_back(budget_->Ask("a", {"other"}, Urgency::kFirst, [&] { other = true; }));
  loop_.RunFor(absl::Hours(1));
  EXPECT_TRUE(other) << ran;
}

TEST_F(ProbeFlowsTest, AWithdrawnRequestIsNoQuickAnswer) {
  ProbeTickets tickets;
  auto slow = budget_->Begin("a", {"slow"}, "");
  loop_.RunFor(absl::Seconds(30));
  slow.reset();
  budget_->Begin("a", {"slow"}, "").reset();  // withdrawn at once
  EXPECT_EQ(Fill("slow", tickets), 1u);
}

TEST_F(ProbeFlowsTest, AFlowThatIsSlowAgainForgetsNoOther) {
  Make({.per_second = 100, .burst = 100, .min_under_way = 32});
  ProbeTickets tickets;
  for (int i = 0; i < 1000; ++i) {
    tickets.push_back(budget_->Begin("a", {StrCat("slow-", i)}, ""));
    if (i % 20 != 19) continue;
    loop_.RunFor(absl::Seconds(1.1));
    AnswerAll(tickets);
  }
  auto again = budget_->Begin("a", {"slow-999"}, "");
  loop_.RunFor(absl::Seconds(1.1));
  EXPECT_EQ(Fill("slow-0", tickets), 1u);
}

}  // namespace
}  // namespace mandate
