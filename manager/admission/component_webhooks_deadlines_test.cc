// When reviews of a component are answered: their order, their deadlines, their latency.
#include <vector>

#include "manager/admission/component_webhooks_fixture.h"

namespace mandate {
namespace {

TEST_F(ComponentWebhooksTest, EndsBeforeTheServersTimeout) {
  absl::Duration given;
  bool stopped = false;
  Start([&](AdmissionCall& call) {
    given = call.context().deadline - loop_.clock().TimeNow();
    Wait(absl::Minutes(1));
    // The work goes on after the answer, and counts until it ends.
    EXPECT_EQ(webhooks_->in_flight(), 1u);
    stopped = call.context().stop.stop_requested();
    SetVerdict(absl::OkStatus(), call);
  });
  const struct {
    const char* timeout;
    absl::Duration deadline;
  } kCases[] = {{"1s", absl::Milliseconds(900)},   {"10s", absl::Milliseconds(9500)},
                {"", absl::Milliseconds(9500)},    {"x", absl::Milliseconds(9500)},
                {"-1s", absl::Milliseconds(9500)}, {"0s", absl::Milliseconds(9500)},
                {"1h", absl::Milliseconds(29500)}};
  for (const auto& c : kCases) {
    SCOPED_TRACE(c.timeout);
    const absl::Time start = loop_.clock().TimeNow();
    const auto answer = Send(Body("u"), c.timeout);
    ASSERT_TRUE(loop_.RunUntil([&] { return answer->has_value(); }));
    EXPECT_EQ(answered_at_ - start, c.deadline);
    EXPECT_EQ((*answer)->code, 504);
    EXPECT_LE(given, c.deadline);
    loop_.RunFor(absl::Minutes(2));
    EXPECT_TRUE(stopped);
    EXPECT_EQ(webhooks_->in_flight(), 0u);
  }
  EXPECT_EQ(Requests("504"), 7);
  EXPECT_EQ(log_->Count("A webhook did not respond in time"), 7) << "the cases are minutes apart";
  EXPECT_EQ(log_->Count("webhook /hook did not respond within 900ms"), 1);
}

TEST_F(ComponentWebhooksTest, WaitingReviewsRunInTheirOrder) {
  bounds_.threads = 1;
  std::vector<std::string> handled;
  std::vector<absl::Time> deadlines;
  Start([&](AdmissionCall& call) {
    handled.push_back(call.request().uid());
    deadlines.push_back(call.context().deadline);
    Wait(absl::Seconds(1));
    SetVerdict(absl::OkStatus(), call);
  });
  const absl::Time start = loop_.clock().TimeNow();
  std::vector<std::shared_ptr<Answer>> answers;
  for (const char* uid : {"u1", "u2", "u3"}) answers.push_back(Send(Body(uid)));
  loop_.RunFor(absl::Seconds(5));
  EXPECT_EQ(handled, (std::vector<std::string>{"u1", "u2", "u3"}));
  EXPECT_EQ(deadlines, std::vector<absl::Time>(3, start + absl::Milliseconds(9500)))
      << "the time that a review waits counts";
  for (const auto& answer : answers) {
    ASSERT_TRUE(answer->has_value());
    EXPECT_EQ((*answer)->code, 200);
  }
  // The thread is free again.
  const auto later = Send(Body("u4"));
  loop_.RunFor(absl::Seconds(5));
  ASSERT_TRUE(later->has_value());
  EXPECT_EQ((*later)->code, 200);
}

TEST_F(ComponentWebhooksTest, MeasuresItsLatencyInSeconds) {
  Start([&](AdmissionCall& call) {
    Wait(absl::Seconds(2));
    SetVerdict(absl::OkStatus(), call);
  });
  Send(Body("u"));
  loop_.RunFor(absl::Seconds(5));
  for (const auto& family : metrics_.registry().Collect()) {
    if (family.name != "controller_runtime_webhook_latency_seconds") continue;
    EXPECT_NEAR(family.metric.at(0).histogram.sample_sum, 2, 0.1);
    return;
  }
  ADD_FAILURE() << "no latency";
}

// A pool whose threads are busy until the test runs the tasks.
class BusyPool : public Executor {
 public:
  void Post(Task task) override { tasks.push_back(std::move(task)); }
  void Await(const Latch&) override {}

  std::vector<Task> tasks;
};

TEST_F(ComponentWebhooksTest, AHandlerDoesNotStartAfterTheDeadline) {
  BusyPool busy;
  workers_ = &busy;
  bool handled = false;
  Start([&](AdmissionCall&) { handled = true; });
  const auto answer = Send(Body("u"));
  loop_.RunFor(absl::Minutes(1));
  ASSERT_TRUE(answer->has_value());
  EXPECT_EQ((*answer)->code, 504);
  ASSERT_EQ(busy.tasks.size(), 1u);
  std::move(busy.tasks.front())();
  busy.tasks.clear();
  EXPECT_FALSE(handled);
  EXPECT_EQ(webhooks_->in_flight(), 0u);
}

// Between the thread that took it and the deadline, the thread is late.
TEST_F(ComponentWebhooksTest, AHandlerThatHasAThreadDoesNotStartAfterTheDeadline) {
  BusyPool busy;
  workers_ = &busy;
  bool handled = false;
  Start([&](AdmissionCall&) { handled = true; });
  const auto answer = Send(Body("u"));
  ASSERT_EQ(busy.tasks.size(), 1u);
  std::move(busy.tasks.front())();  // reads the body
  ASSERT_EQ(busy.tasks.size(), 2u);
  loop_.RunFor(absl::Minutes(1));
  ASSERT_TRUE(answer->has_value());
  EXPECT_EQ((*answer)->code, 504);
  std::move(busy.tasks.back())();
  busy.tasks.clear();
  EXPECT_FALSE(handled);
  EXPECT_EQ(webhooks_->in_flight(), 0u);
}

// Otherwise those that wait would take the bounds while the threads hang.
TEST_F(ComponentWebhooksTest, AReviewThatWaitedTooLongIsOver) {
  bounds_.threads = 1;
  int handled = 0;
  Start([&](AdmissionCall& call) {
    ++handled;
    Wait(absl::Minutes(1));
    SetVerdict(absl::OkStatus(), call);
  });
  const absl::Time start = loop_.clock().TimeNow();
  std::shared_ptr<Answer> second;
  std::vector<size_t> in_flight;
  const auto count = [&] { in_flight.push_back(webhooks_->in_flight()); };
  loop_.PostAt(start + absl::Seconds(5), [&] { second = Send(Body("u2"), "10s"); });
  loop_.PostAt(start + absl::Seconds(6), count);
  loop_.PostAt(start + absl::Seconds(20), count);
  const auto first = Send(Body("u1"), "30s");
  loop_.RunFor(absl::Minutes(2));
  EXPECT_EQ((*second)->code, 504);
  EXPECT_EQ(in_flight, (std::vector<size_t>{2, 1}));
  EXPECT_EQ(handled, 1);
}

}  // namespace
}  // namespace mandate
