#include "manager/runnable.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "manager/core/testing/log_capture.h"
#include "manager/core/testing/simulated_loop.h"

namespace mandate {
namespace {

using testing::HasSubstr;

class RunnableTest : public testing::Test {
 protected:
  ~RunnableTest() override {
    if (running_ != nullptr) {
      EXPECT_EQ(running_->Stop(absl::InfiniteFuture()), absl::OkStatus());
    }
    EXPECT_EQ(loop_.NextTimer(), absl::InfiniteFuture());
  }
  absl::StatusOr<std::unique_ptr<RunningRunnable>> Create(Runnable runnable) {
    return RunningRunnable::Create({.runnable = std::move(runnable),
                                    .component = "keeper",
                                    .loop = &loop_,
                                    .pool = &pool_,
                                    .metrics = &metrics_,
                                    .log = Logger(log_, loop_.clock())});
  }
  void Start(std::function<absl::Status(const CallContext&)> run) {
    auto running = Create({.name = "sweep", .run = std::move(run)});
    ASSERT_TRUE(running.ok()) << running.status();
    running_ = *std::move(running);
    running_->Start();
  }
  // Blocks a thread of the pool until the stop is requested.
  void AwaitStop(const CallContext& context) {
    Latch stopped;
    const std::stop_callback on_stop(context.stop, [&] { stopped.Set(); });
    pool_.Await(stopped);
  }
  double Errors() {
    return metrics_
        .Counter("mandate_runnable_errors_total", "",
                 {{"identity", "keeper"}, {"runnable", "sweep"}})
        .Value();
  }

  SimulatedLoop loop_;
  SimulatedPool pool_{loop_, 1};
  Metrics metrics_;
  std::shared_ptr<LogCapture> log_ = std::make_shared<LogCapture>();
  std::unique_ptr<RunningRunnable> running_;
};

TEST_F(RunnableTest, NeedsANameAndWork) {
  const auto run = [](const CallContext&) { return absl::OkStatus(); };
  const struct {
    Runnable runnable;
    const char* says;
  } rows[] = {
      {{.name = "Sweep", .run = run},
       "runnable \"Sweep\" of component keeper: its name is invalid"},
      {{.name = "", .run = run}, "its name is invalid"},
      {{.name = "sweep", .run = nullptr}, "it has nothing to run"},
  };
  for (const auto& row : rows) {
    const absl::Status status = Create(row.runnable).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(status.message()), HasSubstr(row.says));
  }
}

TEST_F(RunnableTest, ASuccessIsTheEnd) {
  int runs = 0;
  Start([&](const CallContext& context) {
    ++runs;
    context.log().Info("Swept");
    return absl::OkStatus();
  });
  EXPECT_EQ(runs, 0) << "never inside the call";
  loop_.RunFor(absl::Hours(1));
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(running_->Ready(), absl::OkStatus());
  EXPECT_EQ(log_->Count("Swept component=keeper runnable=sweep"), 1);
  running_->Start();
  loop_.RunFor(absl::Hours(1));
  EXPECT_EQ(runs, 1) << "once";
}

TEST_F(RunnableTest, AFailureIsTriedAgainLaterEachTime) {
  std::vector<absl::Time> runs;
  Start([&](const CallContext&) -> absl::Status {
    runs.push_back(loop_.clock().TimeNow());
    if (runs.size() == 1) return absl::UnavailableError("no route");
    if (runs.size() == 2) throw std::runtime_error("boom");
    return absl::OkStatus();
  });
  const auto run_until = [&](size_t count) {
    return loop_.RunUntil([&, count] { return runs.size() == count; });
  };
  ASSERT_TRUE(run_until(1));
  loop_.RunFor(absl::Milliseconds(500));
  EXPECT_EQ(running_->Ready().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(running_->Ready().message()),
              HasSubstr("runnable sweep of component keeper failed, and waits for its next try: "
                        "no route"));
  ASSERT_TRUE(run_until(2));
  loop_.RunFor(absl::Milliseconds(500));
  EXPECT_THAT(std::string(running_->Ready().message()), HasSubstr("it threw: boom"));
  ASSERT_TRUE(run_until(3));
  loop_.RunFor(absl::Hours(1));
  EXPECT_EQ(running_->Ready(), absl::OkStatus());
  ASSERT_EQ(runs.size(), 3u);
  EXPECT_GE(runs[1] - runs[0], absl::Seconds(1));
  EXPECT_GE(runs[2] - runs[1], absl::Seconds(2));
  EXPECT_EQ(Errors(), 2);
}

TEST_F(RunnableTest, AStopEndsIt) {
  bool ended = false;
  Start([&](const CallContext& context) {
    AwaitStop(context);
    ended = true;
    return absl::CancelledError("stopped");
  });
  // In a task, as the runnable waits within this test's own RunFor().
  loop_.PostAt(loop_.clock().TimeNow() + absl::Seconds(10), [&] {
    EXPECT_FALSE(ended);
    running_->RequestStop();
  });
  loop_.RunFor(absl::Minutes(1));
  EXPECT_TRUE(ended);
  EXPECT_EQ(running_->Stop(absl::InfiniteFuture()), absl::OkStatus()) << "no error of its own";
  EXPECT_EQ(Errors(), 0);
}

TEST_F(RunnableTest, AStopEndsTheWaitForTheNextTry) {
  int runs = 0;
  Start([&](const CallContext&) {
    ++runs;
    return absl::UnavailableError("no route");
  });
  loop_.RunFor(absl::Milliseconds(500));
  const absl::Time before = loop_.clock().TimeNow();
  EXPECT_EQ(running_->Stop(absl::InfiniteFuture()), absl::OkStatus());
  EXPECT_EQ(loop_.clock().TimeNow(), before);
  loop_.RunFor(absl::Hours(1));
  EXPECT_EQ(runs, 1);
}

TEST_F(RunnableTest, OneThatDoesNotEndIsAnError) {
  Latch stuck;
  Start([&](const CallContext&) {
    pool_.Await(stuck);
    return absl::OkStatus();
  });
  const absl::Time start = loop_.clock().TimeNow();
  absl::Status result;
  loop_.PostAt(start + absl::Minutes(1), [&] { stuck.Set(); });
  loop_.PostAt(start + absl::Seconds(10),
               [&] { result = running_->Stop(start + absl::Seconds(20)); });
  loop_.RunFor(absl::Minutes(2));
  EXPECT_EQ(result.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(std::string(result.message()),
              HasSubstr("runnable sweep of component keeper was still running"));
}

TEST_F(RunnableTest, WithoutAStartNothingRuns) {
  auto running = Create({.name = "sweep", .needs_leader = false, .run = [](const CallContext&) {
                           ADD_FAILURE();
                           return absl::OkStatus();
                         }});
  ASSERT_TRUE(running.ok());
  EXPECT_EQ((*running)->name(), "sweep");
  EXPECT_FALSE((*running)->needs_leader());
  EXPECT_EQ((*running)->Ready(), absl::OkStatus());
  EXPECT_EQ((*running)->Stop(absl::InfiniteFuture()), absl::OkStatus());
  (*running)->Start();
  loop_.RunFor(absl::Seconds(1));
}

}  // namespace
}  // namespace mandate
