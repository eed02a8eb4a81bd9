#include "manager/controller/workers.h"

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "manager/controller/testing/function_reconciler.h"
#include "manager/core/testing/simulated_loop.h"

namespace mandate {
namespace {

// Runs a posted task when the test calls RunNext().
class ManualPool : public Executor {
 public:
  void Post(Task task) override { tasks_.push_back(std::move(task)); }
  void RunNext() {
    Task task = std::move(tasks_.front());
    tasks_.pop_front();
    std::move(task)();
  }
  size_t waiting() const { return tasks_.size(); }

 private:
  std::deque<Task> tasks_;
};

class WorkersTest : public testing::Test {
 protected:
  Result Reconcile(const Request& request) {
    names_.push_back(request.key.name);
    clock_.AdvanceTo(clock_.TimeNow() + takes_);
    return result_;
  }
  void Add(const std::vector<std::string>& names) {
    for (const std::string& name : names) queue_.Add({{"", name}}, {}, clock_.TimeNow());
  }
  // Starts, with these requests and one worker for them.
  void StartAndWake(const std::vector<std::string>& names) {
    workers_.Start(owner_);
    Add(names);
    EXPECT_TRUE(workers_.WakeFirst());
  }
  std::vector<std::string> TakeNames() { return std::exchange(names_, {}); }

  SimulatedClock clock_;
  absl::Duration takes_ = absl::ZeroDuration();  // each reconciliation
  Result result_;
  std::vector<std::string> names_;
  int requeues_ = 0;
  Metrics registry_;
  ControllerMetrics metrics_{registry_, "workers", "component"};
  WorkQueue queue_{{}};
  ReconcileRunner runner_{
      {.reconciler = std::make_unique<FunctionReconciler>(
           [this](const CallContext&, const Request& request) { return Reconcile(request); }),
       .timeout = absl::InfiniteDuration(),
       .clock = &clock_,
       .metrics = &metrics_,
       .log = Logger(),
       .seed = 1}};
  ManualPool pool_;
  Workers workers_{{.max = 2,
                    .queue = &queue_,
                    .runner = &runner_,
                    .pool = &pool_,
                    .clock = &clock_,
                    .on_requeue = [this] { ++requeues_; }}};
  const std::shared_ptr<int> owner_ = std::make_shared<int>();
};

using Names = std::vector<std::string>;

TEST_F(WorkersTest, NoWorkerRunsBeforeTheStart) {
  Add({"a"});
  EXPECT_TRUE(workers_.WakeFirst());
  workers_.WakeAsNeeded();
  EXPECT_EQ(pool_.waiting(), 0u);
  workers_.Start(owner_);
  EXPECT_EQ(pool_.waiting(), 1u);
  EXPECT_EQ(owner_.use_count(), 2);
  pool_.RunNext();
  EXPECT_EQ(TakeNames(), Names{"a"});
  EXPECT_EQ(owner_.use_count(), 1);
}

TEST_F(WorkersTest, WakeFirstWakesOneAndPumpWakesAll) {
  workers_.Start(owner_);
  EXPECT_EQ(pool_.waiting(), 0u);
  Add({"a", "b", "c"});
  EXPECT_TRUE(workers_.WakeFirst());
  EXPECT_FALSE(workers_.WakeFirst());
  EXPECT_EQ(workers_.count(), 1);
  workers_.WakeAsNeeded();
  EXPECT_EQ(workers_.count(), 2);  // all there are
  EXPECT_TRUE(workers_.WakeFirst());
  EXPECT_EQ(pool_.waiting(), 2u);
}

TEST_F(WorkersTest, OneWorkerIsEnoughForOneRequest) {
  workers_.Start(owner_);
  Add({"a"});
  workers_.WakeAsNeeded();
  EXPECT_EQ(workers_.count(), 1);
}

TEST_F(WorkersTest, AWorkerRunsUntilNoRequestIsReady) {
  StartAndWake({"a", "b", "c"});
  pool_.RunNext();
  EXPECT_EQ(TakeNames(), (Names{"a", "b", "c"}));
  EXPECT_EQ(workers_.count(), 0);
  EXPECT_EQ(pool_.waiting(), 0u);
  EXPECT_EQ(queue_.Items(), 0u);
}

TEST_F(WorkersTest, AfterItsTurnAWorkerWaitsBehindOthers) {
  takes_ = absl::Microseconds(600);
  StartAndWake({"a", "b", "c"});
  bool other = false;
  pool_.Post([&other] { other = true; });
  pool_.RunNext();
  EXPECT_EQ(TakeNames(), (Names{"a", "b"}));
  EXPECT_EQ(workers_.count(), 1);
  pool_.RunNext();
  EXPECT_TRUE(other);
  pool_.RunNext();
  EXPECT_EQ(TakeNames(), Names{"c"});
}

TEST_F(WorkersTest, ReportsThatARequestWaitsForItsTime) {
  result_.requeue_after = absl::Seconds(1);
  StartAndWake({"a"});
  pool_.RunNext();
  EXPECT_EQ(requeues_, 1);
  EXPECT_EQ(queue_.NextReady(), clock_.TimeNow() + absl::Seconds(1));
}

// Between its last look at the queue and its end the worker counts as running, so no other worker
// is woken.
TEST_F(WorkersTest, ARequestAddedWhileAWorkerEndsIsReconciled) {
  Workers* only = nullptr;
  Workers workers({.max = 1,
                   .queue = &queue_,
                   .runner = &runner_,
                   .pool = &pool_,
                   .clock = &clock_,
                   .on_requeue = [&] {
                     result_.requeue_after = absl::ZeroDuration();
                     Add({"late"});
                     only->WakeAsNeeded();
                     EXPECT_EQ(pool_.waiting(), 0u);
                   }});
  only = &workers;
  workers.Start(owner_);
  result_.requeue_after = absl::Hours(1);
  Add({"a"});
  workers.WakeFirst();
  pool_.RunNext();
  ASSERT_EQ(pool_.waiting(), 1u);
  pool_.RunNext();
  EXPECT_EQ(TakeNames(), (Names{"a", "late"}));
}

TEST_F(WorkersTest, IsDrainedWhenNoWorkerRuns) {
  StartAndWake({"a"});
  workers_.RequestStop();
  EXPECT_FALSE(workers_.drained().IsSet());
  pool_.RunNext();
  EXPECT_EQ(TakeNames(), Names{});
  EXPECT_TRUE(workers_.drained().IsSet());
  Add({"b"});
  EXPECT_TRUE(workers_.WakeFirst());
  EXPECT_EQ(pool_.waiting(), 0u);
}

TEST_F(WorkersTest, StopsBeforeTheStart) {
  workers_.RequestStop();
  EXPECT_TRUE(workers_.drained().IsSet());
  workers_.Start(owner_);
  Add({"a"});
  workers_.WakeAsNeeded();
  EXPECT_EQ(pool_.waiting(), 0u);
}

}  // namespace
}  // namespace mandate
