#include "manager/controller/reconcile_runner.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <stdexcept>
#include <utility>

#include "manager/controller/testing/function_reconciler.h"
#include "manager/core/testing/log_capture.h"
#include "manager/core/testing/recording_tracer.h"
#include "manager/core/testing/simulated_loop.h"
#include "manager/object/api_error.h"

namespace mandate {
namespace {

using Next = Outcome::Next;

class ReconcileRunnerTest : public testing::Test {
 protected:
  Outcome Run(FunctionReconciler::Function function, std::stop_token stop = {}) {
    function_ = std::move(function);
    absl::Time now = clock_.TimeNow();
    return ReconcileRunner::Batch(runner_, stop).Run({{"foo", "bar"}}, now);
  }
  Outcome Return(absl::StatusOr<Result> result) {
    return Run([&](const CallContext&, const Request&) { return result; });
  }

  // The reconcileID of each line.
  std::vector<std::string> Ids() const {
    std::vector<std::string> ids;
    for (const std::string& line : log_->lines()) {
      const size_t at = line.find("reconcileID=") + 12;
      ids.push_back(line.substr(at, line.find(' ', at) - at));
    }
    return ids;
  }

  SimulatedClock clock_;
  Metrics registry_;
  ControllerMetrics metrics_{registry_, "scope", "scope-instance"};
  std::shared_ptr<LogCapture> log_ = std::make_shared<LogCapture>();
  FunctionReconciler::Function function_;
  RecordingTracer tracer_{clock_};
  ReconcileRunner runner_{
      {.reconciler = std::make_unique<FunctionReconciler>(
           [this](const CallContext& context, const Request& request) {
             EXPECT_EQ(metrics_.active.Value(), 1);
             return function_(context, request);
           }),
       .timeout = absl::Seconds(10),
       .clock = &clock_,
       .metrics = &metrics_,
       .log = Logger(log_, clock_).With("component", "scope-instance").With("controller", "scope"),
       .seed = 1,
       .component = "scope-instance",
       .controller = "scope",
       .tracer = &tracer_}};
};

TEST_F(ReconcileRunnerTest, EachReconciliationIsATraceWithItsId) {
  TraceContext inside;
  (void)Run([&](const CallContext& context, const Request&) -> absl::StatusOr<Result> {
    inside = context.trace;
    context.log().Info("a line");
    clock_.AdvanceTo(clock_.TimeNow() + absl::Seconds(2));
    return Result{};
  });
  (void)Return(absl::UnavailableError("down"));
  const std::vector<FinishedSpan> spans = tracer_.finished();
  ASSERT_EQ(spans.size(), 2u);
  EXPECT_EQ(spans[0].span_id, inside.span_id);
  EXPECT_EQ(spans[0].component, "scope-instance");
  EXPECT_EQ(spans[0].name, "reconcile");
  EXPECT_EQ(spans[0].end - spans[0].start, absl::Seconds(2));
  EXPECT_EQ(spans[0].error, absl::StatusCode::kOk);
  std::map<std::string, std::string> attributes;
  for (const SpanAttribute& a : spans[0].attributes) {
    attributes[a.name] = std::get<std::string>(a.value);
  }
  const std::map<std::string, std::string> expected = {{"controller", "scope"},
                                                       {"namespace", "foo"},
                                                       {"name", "bar"},
                                                       {"reconcileID", Ids().front()}};
  EXPECT_EQ(attributes, expected);
  EXPECT_EQ(spans[1].error, absl::StatusCode::kUnavailable);
  EXPECT_NE(spans[1].trace_id, spans[0].trace_id);
}

TEST_F(ReconcileRunnerTest, Outcomes) {
  const absl::Status error = absl::UnavailableError("down");
  const absl::Status busy = StatusFromResponse(429, "", absl::Seconds(9));
  const struct {
    const char* what;
    absl::StatusOr<Result> result;
    Next next;
    absl::Duration after;
    std::optional<int> priority;
    prometheus::Counter& total;
    int errors, terminal;
  } rows[] = {
      {"success", Result{}, Next::kNothing, {}, {}, metrics_.success, 0, 0},
      {"later",
       Result{absl::Seconds(3)},
       Next::kRequeueAfter,
       absl::Seconds(3),
       {},
       metrics_.requeue_after,
       0,
       0},
      {"later and lower", Result{absl::Seconds(3), -5}, Next::kRequeueAfter, absl::Seconds(3), -5,
       metrics_.requeue_after, 0, 0},
      {"negative", Result{-absl::Seconds(3)}, Next::kNothing, {}, {}, metrics_.success, 0, 0},
      {"error", error, Next::kRetry, {}, {}, metrics_.error, 1, 0},
      {"asked to wait", busy, Next::kRetry, absl::Seconds(9), {}, metrics_.error, 1, 0},
      {"terminal", TerminalError(error), Next::kNothing, {}, {}, metrics_.error, 1, 1},
      {"cancelled by itself", absl::CancelledError(), Next::kRetry, {}, {}, metrics_.error, 1, 0},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.what);
    const double total = row.total.Value();
    const double errors = metrics_.errors.Value();
    const double terminal = metrics_.terminal_errors.Value();
    const Outcome outcome = Return(row.result);
    EXPECT_EQ(outcome.next, row.next);
    EXPECT_EQ(outcome.after, row.after);
    EXPECT_EQ(outcome.priority, row.priority);
    EXPECT_EQ(row.total.Value(), total + 1);
    EXPECT_EQ(metrics_.errors.Value(), errors + row.errors);
    EXPECT_EQ(metrics_.terminal_errors.Value(), terminal + row.terminal);
    EXPECT_EQ(metrics_.active.Value(), 0);
  }
}

TEST_F(ReconcileRunnerTest, ContainsExceptions) {
  EXPECT_EQ(Run([](const CallContext&, const Request&) -> absl::StatusOr<Result> {
              throw std::runtime_error("index out of range");
            }).next,
            Next::kRetry);
  EXPECT_EQ(metrics_.panics.Value(), 1);
  EXPECT_EQ(log_->Count("index out of range"), 1);
  EXPECT_EQ(Run([](const CallContext&, const Request&) -> absl::StatusOr<Result> { throw 7; }).next,
            Next::kRetry);
  EXPECT_EQ(metrics_.panics.Value(), 2);
  EXPECT_EQ(metrics_.errors.Value(), 2);
  EXPECT_EQ(metrics_.active.Value(), 0);
}

TEST_F(ReconcileRunnerTest, GivesADeadlineAndCountsItsOwnTimeouts) {
  const absl::Time start = clock_.TimeNow();
  Run([&](const CallContext& context, const Request&) -> absl::StatusOr<Result> {
    EXPECT_EQ(context.deadline, start + absl::Seconds(10));
    return absl::DeadlineExceededError("a shorter deadline of the reconciler's");
  });
  EXPECT_EQ(metrics_.timeouts.Value(), 0);
  Run([&](const CallContext& context, const Request&) -> absl::StatusOr<Result> {
    clock_.AdvanceTo(context.deadline);
    return absl::DeadlineExceededError("ours");
  });
  EXPECT_EQ(metrics_.timeouts.Value(), 1);
  const auto seconds = metrics_.seconds.Collect().histogram;
  EXPECT_EQ(seconds.sample_count, 2u);
  EXPECT_DOUBLE_EQ(seconds.sample_sum, 10);
}

TEST_F(ReconcileRunnerTest, CountsTheQuickSuccessesOfATurnTogether) {
  absl::Duration took;
  function_ = [&](const CallContext&, const Request&) {
    clock_.AdvanceTo(clock_.TimeNow() + took);
    return Result{};
  };
  absl::Time now = clock_.TimeNow();
  {
    ReconcileRunner::Batch batch(runner_, {});
    for (const int milliseconds : {1, 2, 5, 6}) {
      took = absl::Milliseconds(milliseconds);
      batch.Run({{"foo", "bar"}}, now);
    }
    EXPECT_EQ(metrics_.success.Value(), 0);
    EXPECT_EQ(metrics_.seconds.Collect().histogram.sample_count, 1u) << "the slow one";
  }
  EXPECT_EQ(metrics_.success.Value(), 4);
  EXPECT_EQ(metrics_.active.Value(), 0);
  const auto seconds = metrics_.seconds.Collect().histogram;
  EXPECT_EQ(seconds.sample_count, 4u);
  EXPECT_NEAR(seconds.sample_sum, 0.014, 1e-9);
  EXPECT_EQ(seconds.bucket[0].upper_bound, ControllerMetrics::kQuick);
  EXPECT_EQ(seconds.bucket[0].cumulative_count, 3u);
  EXPECT_EQ(seconds.bucket[1].cumulative_count, 4u);
}

TEST_F(ReconcileRunnerTest, ACancellationByStopIsNotAnError) {
  std::stop_source stop;
  const Outcome outcome = Run(
      [&](const CallContext& context, const Request&) -> absl::StatusOr<Result> {
        EXPECT_FALSE(context.stop.stop_requested());
        stop.request_stop();
        EXPECT_TRUE(context.stop.stop_requested());
        return absl::CancelledError();
      },
      stop.get_token());
  EXPECT_EQ(outcome.next, Next::kNothing);
  EXPECT_EQ(metrics_.errors.Value(), 0);
  EXPECT_TRUE(log_->lines().empty());
}

TEST_F(ReconcileRunnerTest, LogsTransitionsAndNotRetries) {
  Return(Result{});
  EXPECT_TRUE(log_->lines().empty());
  for (int i = 0; i < 10; ++i) Return(absl::UnavailableError("down"));
  ASSERT_EQ(log_->lines().size(), 1u);
  const std::string line = log_->lines()[0];
  for (const char* part : {"ERROR Reconciler error", "component=scope-instance", "controller=scope",
                           "namespace=foo", "name=bar", "reconcileID=", "error=down"}) {
    EXPECT_NE(line.find(part), std::string::npos) << part << " in " << line;
  }
  Return(absl::UnavailableError("still down, differently"));
  EXPECT_EQ(log_->lines().size(), 2u);
  Return(Result{});
  Return(Result{});
  EXPECT_EQ(log_->lines().size(), 3u);
  EXPECT_EQ(log_->Count("INFO Reconciled after errors"), 1);
  Return(absl::UnavailableError("down"));
  EXPECT_EQ(log_->lines().size(), 4u);
}

// Such as a Retry-After that differs each time.
TEST_F(ReconcileRunnerTest, DoesNotLogAChangedPayload) {
  for (const char* wait : {"1", "2", "3"}) {
    absl::Status error = absl::UnavailableError("down");
    error.SetPayload("example.com/wait", absl::Cord(wait));
    Return(error);
  }
  EXPECT_EQ(log_->lines().size(), 1u);
}

TEST_F(ReconcileRunnerTest, ARequeuedSuccessEndsTheErrors) {
  Return(absl::UnavailableError("down"));
  Return(Result{absl::Seconds(3)});
  EXPECT_EQ(log_->Count("INFO Reconciled after errors"), 1);
  Return(absl::UnavailableError("down"));
  EXPECT_EQ(log_->Count("ERROR Reconciler error"), 2);
}

TEST_F(ReconcileRunnerTest, TheContextLogsWhatIsReconciled) {
  for (int i = 0; i < 2; ++i) {
    Run([](const CallContext& context, const Request&) -> absl::StatusOr<Result> {
      context.log().Info("Copying a volume", {{"volume", "v"}});
      context.WithDeadline(absl::InfinitePast()).log().Info("Copied");
      return absl::UnavailableError("down");
    });
  }
  ASSERT_EQ(log_->lines().size(), 5u) << "the second error is not new";
  for (const char* part : {"INFO Copying a volume", "component=scope-instance", "controller=scope",
                           "namespace=foo", "name=bar", "volume=v"}) {
    EXPECT_NE(log_->lines()[0].find(part), std::string::npos) << part;
  }
  const std::vector<std::string> ids = Ids();
  EXPECT_EQ(ids[0], ids[1]);
  EXPECT_EQ(ids[0], ids[2]) << "the line of the error";
  EXPECT_NE(ids[0], ids[3]);
  EXPECT_EQ(ids[3], ids[4]);
}

TEST_F(ReconcileRunnerTest, ReconcileIdsAreDistinctUuids) {
  Return(absl::UnavailableError("one"));
  Return(absl::UnavailableError("two"));
  const std::vector<std::string> ids = Ids();
  ASSERT_EQ(ids.size(), 2u);
  EXPECT_NE(ids[0], ids[1]);
  for (const std::string& id : ids) {
    ASSERT_EQ(id.size(), 36u) << id;
    EXPECT_EQ(id[14], '4') << id;
    EXPECT_NE(std::string("89ab").find(id[19]), std::string::npos) << id;
  }
}

}  // namespace
}  // namespace mandate
