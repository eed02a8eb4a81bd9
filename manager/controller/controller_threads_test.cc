// A controller on a real loop and a real pool, so that sanitizers can find races.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "manager/cache/testing/fake_cache_view.h"
#include "manager/controller/controller.h"
#include "manager/controller/testing/function_reconciler.h"
#include "manager/core/event_loop.h"
#include "manager/core/thread_pool.h"
#include "manager/object/kinds/coordination_v1.h"

namespace mandate {
namespace {

using coordinationv1::Lease;

class ControllerThreadsTest : public testing::Test {
 protected:
  ~ControllerThreadsTest() override {
    // Handles and tasks are destroyed before the objects that they use.
    loop_->Stop();
  }

  std::unique_ptr<Controller> Start(FunctionReconciler::Function function, int workers) {
    auto controller = Controller::Create(
        {.name = "leases",
         .controller_context = {"component", *loop_, pool_, *cache_, metrics_, Logger(), 1},
         .sources = {{{KindOf<Lease>::value, "", ""}, EnqueueObject(), {}}},
         .reconciler = std::make_unique<FunctionReconciler>(std::move(function)),
         .controller = {.max_concurrent_reconciles = workers}});
    EXPECT_TRUE(controller.ok()) << controller.status();
    (*controller)->Start();
    return *std::move(controller);
  }
  void Put(const std::string& name, int version) {
    loop_->Post([this, name, version] {
      Lease lease;
      lease.mutable_metadata()->set_name(name);
      lease.mutable_spec()->set_leasetransitions(version);
      cache_->Put(lease);
    });
  }

  std::unique_ptr<EventLoop> loop_ = *EventLoop::Create();
  Metrics metrics_;
  std::unique_ptr<FakeCacheView> cache_ = std::make_unique<FakeCacheView>(*loop_);
  ThreadPool pool_{4};  // the first to go: what runs there uses the others
};

TEST_F(ControllerThreadsTest, EveryChangeIsReconciledAfterwards) {
  constexpr int kObjects = 20;
  constexpr int kVersions = 200;
  std::array<std::atomic<int>, kObjects> seen{}, inside{};
  std::atomic<int> finished = 0;
  std::atomic<bool> overlap = false;
  Latch all;
  auto controller = Start(
      [&](const CallContext&, const Request& request) -> absl::StatusOr<Result> {
        const auto index = static_cast<size_t>(std::stoi(request.key.name));
        if (++inside[index] != 1) overlap = true;
        const auto lease = cache_->Get<Lease>({}, request.key);
        if (!lease.ok()) return lease.status();
        const int version = lease->spec().leasetransitions();
        const int before = seen[index].exchange(version);
        --inside[index];
        if (version == kVersions && before != kVersions && ++finished == kObjects) all.Set();
        if (version % 7 == 0) return absl::UnavailableError("again");
        return Result{version % 5 == 0 ? absl::Milliseconds(1) : absl::ZeroDuration()};
      },
      4);
  for (int version = 1; version <= kVersions; ++version) {
    for (int object = 0; object < kObjects; ++object) Put(std::to_string(object), version);
  }
  all.Wait();  // the test's time limit is what catches a lost one
  EXPECT_TRUE(controller->Stop(absl::InfiniteFuture()).ok());
  EXPECT_FALSE(overlap);
}

TEST_F(ControllerThreadsTest, AStuckWorkerDoesNotHoldUpTheOthers) {
  constexpr int kObjects = 20'000;
  for (int i = 0; i < kObjects; ++i) Put(std::to_string(i), 1);
  std::atomic<int> begun = 0, ended = 0;
  Latch others;
  // All events come in one turn of the loop. Nothing happens after it that would wake a worker.
  auto controller = Start(
      [&](const CallContext&, const Request&) -> absl::StatusOr<Result> {
        if (++begun == kObjects / 2) others.Wait();
        if (++ended == kObjects - 1) others.Set();
        return Result{};
      },
      4);
  others.Wait();  // until the test's time limit if the other workers do not go on
  EXPECT_TRUE(controller->Stop(absl::InfiniteFuture()).ok());
}

TEST_F(ControllerThreadsTest, StopWaitsForRunningReconciles) {
  Latch running;
  std::atomic<bool> ended = false;
  auto controller = Start(
      [&](const CallContext& context, const Request&) -> absl::StatusOr<Result> {
        Latch stop;
        std::stop_callback on_stop(context.stop, [&] { stop.Set(); });
        running.Set();
        stop.Wait();
        ended = true;
        return absl::CancelledError();
      },
      2);
  Put("a", 1);
  running.Wait();
  EXPECT_TRUE(controller->Stop(absl::InfiniteFuture()).ok());
  EXPECT_TRUE(ended);
}

TEST_F(ControllerThreadsTest, RequestStopCancelsAndDoesNotWait) {
  Latch running, cancelled, release;
  auto controller = Start(
      [&](const CallContext& context, const Request&) -> absl::StatusOr<Result> {
        std::stop_callback on_stop(context.stop, [&] { cancelled.Set(); });
        running.Set();
        release.Wait();
        return absl::CancelledError();
      },
      1);
  Put("a", 1);
  running.Wait();
  controller->RequestStop();
  cancelled.Wait();
  release.Set();
  EXPECT_TRUE(controller->Stop(absl::InfiniteFuture()).ok());
}

TEST_F(ControllerThreadsTest, StopGivesUpAtItsDeadline) {
  Latch running, release, ended;
  auto controller = Start(
      [&](const CallContext&, const Request&) -> absl::StatusOr<Result> {
        running.Set();
        release.Wait();  // does not look at its context
        ended.Set();
        return Result{};
      },
      1);
  Put("a", 1);
  running.Wait();
  EXPECT_TRUE(absl::IsDeadlineExceeded(
      controller->Stop(loop_->clock().TimeNow() + absl::Milliseconds(20))));
  controller.reset();  // what still runs keeps what it needs
  release.Set();
  ended.Wait();
}

TEST_F(ControllerThreadsTest, StopDoesNotHangWhenTheLoopHasEnded) {
  auto controller = Start([](const CallContext&, const Request&) { return Result{}; }, 1);
  loop_->Stop();
  EXPECT_TRUE(controller->Stop(absl::InfiniteFuture()).ok());
}

}  // namespace
}  // namespace mandate
