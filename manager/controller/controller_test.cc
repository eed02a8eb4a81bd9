#include "manager/controller/controller.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "manager/controller/testing/controller_fixture.h"

namespace mandate {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST_F(ControllerTest, ReconcilesExistingAndChangedObjects) {
  PutLease("a");
  PutLease("b");
  Start({Of(kLease)});
  EXPECT_THAT(SettleAndTake(), ElementsAre("a", "b"));
  EXPECT_TRUE(controller_->Ready().ok()) << controller_->Ready();

  PutLease("b", "me");
  EXPECT_THAT(SettleAndTake(), ElementsAre("b"));

  cache_.Remove(kLease, {"", "a"});
  EXPECT_THAT(SettleAndTake(), ElementsAre("a"));

  loop_.RunFor(absl::Hours(1));
  EXPECT_TRUE(names_.empty());
  EXPECT_EQ(Counter("controller_runtime_reconcile_total", {{"result", "success"}}), 4);
}

TEST_F(ControllerTest, MetricsExistBeforeAnythingHappens) {
  controller_options_.max_concurrent_reconciles = 3;
  const auto controller = Controller::Create(OptionsOf({Of(kLease)}));
  ASSERT_TRUE(controller.ok());
  std::set<std::string> names;
  for (const auto& family : metrics_.registry().Collect()) names.insert(family.name);
  for (const char* name :
       {"controller_runtime_reconcile_total", "controller_runtime_reconcile_errors_total",
        "controller_runtime_terminal_reconcile_errors_total",
        "controller_runtime_reconcile_panics_total", "controller_runtime_reconcile_timeouts_total",
        "controller_runtime_reconcile_time_seconds", "controller_runtime_max_concurrent_reconciles",
        "controller_runtime_active_workers", "workqueue_adds_total"}) {
    EXPECT_TRUE(names.contains(name)) << name;
  }
  EXPECT_EQ(Gauge("controller_runtime_max_concurrent_reconciles"), 3);
  EXPECT_FALSE((*controller)->Ready().ok());
}

TEST_F(ControllerTest, ErrorsAreRetriedWithBackoff) {
  PutLease("a");
  std::vector<absl::Time> times;
  reconcile_ = [&](const CallContext&, const Request&) -> absl::StatusOr<Result> {
    times.push_back(loop_.clock().TimeNow());
    if (times.size() <= 4) return absl::UnavailableError("down");
    return Result{};
  };
  Start({Of(kLease)});
  loop_.RunFor(absl::Minutes(1));
  ASSERT_EQ(times.size(), 5u);
  for (size_t i = 1; i < times.size(); ++i) {
    const absl::Duration delay = times[i] - times[i - 1];
    EXPECT_GE(delay, 5 * kMs * (1 << (i - 1)));
    EXPECT_LE(delay, 5 * kMs * (1 << (i - 1)) + 2 * kMs);  // and what the pool takes
  }
  EXPECT_EQ(Counter("controller_runtime_reconcile_errors_total"), 4);
  EXPECT_EQ(log_->Count("Reconciler error"), 1);
}

TEST_F(ControllerTest, RequeueAfter) {
  PutLease("a");
  reconcile_ = [](const CallContext&, const Request&) { return Result{absl::Minutes(10)}; };
  Start({Of(kLease)});
  loop_.RunFor(absl::Minutes(9));
  EXPECT_EQ(names_.size(), 1u);
  loop_.RunFor(absl::Minutes(2));
  EXPECT_EQ(names_.size(), 2u);
  PutLease("a", "x");
  loop_.RunFor(absl::Seconds(1));
  EXPECT_EQ(names_.size(), 3u);
  loop_.RunFor(absl::Minutes(10));
  EXPECT_EQ(names_.size(), 4u);  // anew from the last one
  EXPECT_EQ(Counter("controller_runtime_reconcile_total", {{"result", "requeue_after"}}), 4);
}

TEST_F(ControllerTest, RunsUpToTheLimitAndNoRequestTwice) {
  controller_options_.max_concurrent_reconciles = 3;
  std::set<std::string> running;
  size_t most = 0;
  reconcile_ = [&](const CallContext&, const Request& request) {
    EXPECT_TRUE(running.insert(request.key.name).second);
    most = std::max(most, running.size());
    Wait(absl::Seconds(1));
    running.erase(request.key.name);
    return Result{};
  };
  for (int i = 0; i < 10; ++i) PutLease(std::to_string(i));
  Start({Of(kLease)});
  for (int i = 0; i < 10; ++i) PutLease(std::to_string(i), "x");
  loop_.RunFor(absl::Minutes(5));
  EXPECT_EQ(most, 3u);
  EXPECT_TRUE(running.empty());
  EXPECT_GE(names_.size(), 10u);
}

TEST_F(ControllerTest, ARefusedRequestIsQueuedWhenThereIsRoom) {
  controller_options_.queue.max_items = 10;
  for (int i = 0; i < 100; ++i) PutLease(std::to_string(i));
  Start({Of(kLease)});
  EXPECT_TRUE(absl::IsResourceExhausted(controller_->Ready())) << controller_->Ready();
  EXPECT_EQ(log_->Count("Work queue is full"), 1);
  loop_.RunFor(absl::Minutes(1));
  EXPECT_EQ(TakeDistinctNames().size(), 100u);
  EXPECT_EQ(log_->Count("Work queue is full"), 1);
  EXPECT_EQ(log_->Count("Work queue has capacity again"), 1);
  EXPECT_TRUE(controller_->Ready().ok()) << controller_->Ready();
  EXPECT_EQ(cache_.demands().size(), 1u);
  loop_.RunFor(absl::Hours(1));
  EXPECT_TRUE(names_.empty());
}

TEST_F(ControllerTest, StopCancelsRunningReconcilesAndStartsNoMore) {
  PutLease("a");
  PutLease("b");
  bool cancelled = false;
  reconcile_ = [&](const CallContext& context, const Request&) -> absl::StatusOr<Result> {
    Latch stop;
    std::stop_callback on_stop(context.stop, [&] { stop.Set(); });
    pool_.Await(stop);
    cancelled = true;
    return absl::CancelledError();
  };
  absl::Status stopped;
  loop_.PostAt(loop_.clock().TimeNow() + absl::Seconds(1), [&] {
    EXPECT_EQ(names_.size(), 1u);
    EXPECT_FALSE(cancelled);
    // Only the deadline ends this Stop(), because the reconciler waits in an outer frame of the
    // same stack.
    stopped = controller_->Stop(loop_.clock().TimeNow() + absl::Seconds(5));
  });
  Start({Of(kLease)});
  loop_.RunFor(absl::Minutes(1));
  EXPECT_TRUE(absl::IsDeadlineExceeded(stopped)) << stopped;
  EXPECT_THAT(std::string(stopped.message()), HasSubstr("1 reconcilers were still running"));
  EXPECT_TRUE(cancelled);
  EXPECT_THAT(names_, ElementsAre("a"));
  EXPECT_EQ(log_->Count("ERROR"), 0);
  EXPECT_FALSE(controller_->Ready().ok());
  PutLease("a", "x");
  loop_.RunFor(absl::Minutes(1));
  EXPECT_THAT(names_, ElementsAre("a"));
}

TEST_F(ControllerTest, StopBeforeStartAndTwice) {
  auto controller = Controller::Create(OptionsOf({Of(kLease)}));
  ASSERT_TRUE(controller.ok());
  EXPECT_TRUE((*controller)->Stop(absl::InfiniteFuture()).ok());
  (*controller)->Start();
  EXPECT_TRUE((*controller)->Stop(absl::InfiniteFuture()).ok());
  loop_.RunFor(absl::Seconds(1));
  EXPECT_TRUE(cache_.demands().empty());
}

TEST_F(ControllerTest, StopLeavesNoTimer) {
  PutLease("a");
  Start({Of(kLease)});
  loop_.RunFor(100 * kMs);
  EXPECT_LT(loop_.NextTimer(), absl::InfiniteFuture()) << "the next look at the metrics";
  EXPECT_TRUE(controller_->Stop(absl::InfiniteFuture()).ok());
  EXPECT_EQ(loop_.NextTimer(), absl::InfiniteFuture());
}

TEST_F(ControllerTest, MetricsShowHowLongAReconcilerRuns) {
  PutLease("a");
  reconcile_ = [this](const CallContext&, const Request&) {
    Wait(absl::Seconds(10));
    return Result{};
  };
  double longest = 0;
  loop_.PostAt(loop_.clock().TimeNow() + absl::Seconds(9), [&] {
    longest = Gauge("workqueue_longest_running_processor_seconds", {{"name", "scope"}});
  });
  Start({Of(kLease)});
  loop_.RunFor(absl::Minutes(1));
  EXPECT_GT(longest, 8);
}

TEST_F(ControllerTest, OptionsAreChecked) {
  const struct {
    const char* what;
    std::function<void(Controller::Options&)> change;
  } rows[] = {
      {"name", [](auto& options) { options.name = "Scope Instance"; }},
      {"component", [](auto& options) { options.controller_context.component = ""; }},
      {"no reconciler", [](auto& options) { options.reconciler = nullptr; }},
      {"watches nothing", [](auto& options) { options.sources.clear(); }},
      {"handles", [](auto& options) { options.sources[0].handler = nullptr; }},
      {"max_concurrent_reconciles",
       [](auto& options) { options.controller.max_concurrent_reconciles = 0; }},
      {"reconcile_timeout",
       [](auto& options) { options.controller.reconcile_timeout = absl::ZeroDuration(); }},
      {"max_items", [](auto& options) { options.controller.queue.max_items = 1; }},
      {"base_delay",
       [](auto& options) { options.controller.queue.base_delay = absl::ZeroDuration(); }},
      {"max_delay",
       [](auto& options) {
         options.controller.queue.max_delay = options.controller.queue.base_delay / 2;
       }},
  };
  for (const auto& row : rows) {
    Controller::Options options = OptionsOf({Of(kLease)});
    row.change(options);
    const auto controller = Controller::Create(std::move(options));
    EXPECT_TRUE(absl::IsInvalidArgument(controller.status())) << row.what;
    EXPECT_THAT(std::string(controller.status().message()), HasSubstr(row.what));
  }
  Controller::Options options = OptionsOf({Of(kLease)});
  options.controller.queue.max_delay = options.controller.queue.base_delay;
  EXPECT_TRUE(Controller::Create(std::move(options)).ok());
}

}  // namespace
}  // namespace mandate
