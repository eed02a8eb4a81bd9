#include "manager/cache/wait_set.h"

#include <gtest/gtest.h>

#include "manager/core/testing/simulated_loop.h"

namespace mandate {
namespace {

constexpr KindInfo kPod = {.group = "", .version = "v1", .kind = "Pod", .plural = "pods"};
constexpr KindInfo kNode = {.group = "", .version = "v1", .kind = "Node", .plural = "nodes"};

class WaitSetTest : public ::testing::Test {
 protected:
  absl::Status Wait(CallContext context = {}) {
    return waits_->Wait(context, kPod, "it", [this] { return answer_; });
  }
  void At(absl::Duration after, std::function<void()> task) {
    loop_.PostAt(loop_.clock().TimeNow() + after, std::move(task));
  }

  SimulatedLoop loop_;
  std::shared_ptr<WaitSet> waits_ = std::make_shared<WaitSet>(loop_);
  std::optional<absl::Status> answer_;
};

TEST_F(WaitSetTest, AKnownResultIsReturnedAtOnce) {
  answer_ = absl::NotFoundError("known");
  EXPECT_EQ(Wait(), absl::NotFoundError("known"));
  EXPECT_EQ(loop_.ready_tasks(), 0u);
}

TEST_F(WaitSetTest, WaitsForAnEventOfItsKind) {
  const absl::Time start = loop_.clock().TimeNow();
  At(absl::Seconds(1), [this] {
    answer_ = absl::OkStatus();
    waits_->Evaluate(kNode);
  });
  At(absl::Seconds(2), [this] { waits_->Evaluate(kPod); });
  EXPECT_TRUE(Wait().ok());
  EXPECT_EQ(loop_.clock().TimeNow() - start, absl::Seconds(2));
}

TEST_F(WaitSetTest, ChecksAgainWhenTheWaitIsRegistered) {
  // The condition becomes true after the first check and before the wait is registered, and no
  // event follows.
  loop_.Post([this] { answer_ = absl::OkStatus(); });
  EXPECT_TRUE(Wait().ok());
}

TEST_F(WaitSetTest, EndsAtItsDeadline) {
  const absl::Time deadline = loop_.clock().TimeNow() + absl::Seconds(5);
  const absl::Status status = Wait({.deadline = deadline, .stop = {}});
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_NE(status.message().find("has not seen it"), std::string::npos);
  EXPECT_EQ(loop_.clock().TimeNow(), deadline);
  EXPECT_EQ(Wait({.deadline = deadline, .stop = {}}).code(), absl::StatusCode::kDeadlineExceeded);
}

TEST_F(WaitSetTest, EndsWhenStopped) {
  std::stop_source stop;
  At(absl::Seconds(1), [&] { stop.request_stop(); });
  EXPECT_EQ(Wait({.deadline = absl::InfiniteFuture(), .stop = stop.get_token()}).code(),
            absl::StatusCode::kCancelled);
}

TEST_F(WaitSetTest, ItsDestructionEndsEveryWait) {
  At(absl::Seconds(1), [this] { waits_.reset(); });
  WaitSet& waits = *waits_;
  EXPECT_EQ(waits.Wait({}, kPod, "it", [this] { return answer_; }).code(),
            absl::StatusCode::kCancelled);
}

TEST_F(WaitSetTest, ManyAtOnce) {
  int done = 0;
  for (int i = 0; i < 10; ++i) {
    loop_.Post([&, i] {
      const absl::Time deadline = loop_.clock().TimeNow() + absl::Seconds(i < 5 ? 1 : 100);
      const absl::Status status = Wait({.deadline = deadline, .stop = {}});
      EXPECT_EQ(status.ok(), i >= 5) << status;
      ++done;
    });
  }
  At(absl::Seconds(3), [this] {
    answer_ = absl::OkStatus();
    waits_->Evaluate(kPod);
  });
  EXPECT_TRUE(loop_.RunUntil([&] { return done == 10; }));
}

TEST_F(WaitSetTest, AKnownResultIsReturnedAlsoAfterTheDeadline) {
  answer_ = absl::OkStatus();
  EXPECT_TRUE(Wait({.deadline = absl::InfinitePast(), .stop = {}}).ok());
}

// The waiting thread removes the waiter. No timer may be cancelled on that thread.
TEST_F(WaitSetTest, AWaitThatHasEndedHasNoTimer) {
  At(absl::Seconds(1), [this] {
    answer_ = absl::OkStatus();
    waits_->Evaluate(kPod);
    EXPECT_EQ(loop_.NextTimer(), absl::InfiniteFuture());
  });
  EXPECT_TRUE(Wait({.deadline = loop_.clock().TimeNow() + absl::Hours(1), .stop = {}}).ok());
}

TEST_F(WaitSetTest, ItsDestructionEndsAWaitThatHasJustBegun) {
  loop_.Post([this] { waits_.reset(); });
  WaitSet& waits = *waits_;
  EXPECT_EQ(waits.Wait({}, kPod, "it", [this] { return answer_; }),
            absl::CancelledError("the cache was destroyed during a wait for it"));
}

}  // namespace
}  // namespace mandate
