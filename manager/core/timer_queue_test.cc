#include "manager/core/timer_queue.h"

#include <memory>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace mandate {
namespace {

using ::testing::ElementsAre;

class TimerQueueTest : public ::testing::Test {
 protected:
  absl::Time At(int seconds) { return absl::FromUnixSeconds(seconds); }
  Loop::Task Note(int value) {
    return [this, value] { ran_.push_back(value); };
  }
  std::shared_ptr<TimerQueue> queue_ = std::make_shared<TimerQueue>();
  std::vector<int> ran_;
};

TEST_F(TimerQueueTest, RunsByTimeThenByOrder) {
  const auto a = queue_->Add(At(2), Note(1));
  const auto b = queue_->Add(At(1), Note(2));
  const auto c = queue_->Add(At(1), Note(3));
  const auto d = queue_->Add(At(3), Note(4));
  EXPECT_EQ(queue_->next(), At(1));
  EXPECT_EQ(queue_->RunDue(At(2)), 3u);
  EXPECT_THAT(ran_, ElementsAre(2, 3, 1));
  EXPECT_EQ(queue_->next(), At(3));
}

TEST_F(TimerQueueTest, ADestroyedTimerDoesNotRun) {
  auto a = queue_->Add(At(1), Note(1));
  a.reset();
  EXPECT_EQ(queue_->RunDue(At(5)), 0u);
  EXPECT_EQ(queue_->next(), absl::InfiniteFuture());
}

TEST_F(TimerQueueTest, ATaskMayTakeBackALaterTimerThatIsDueToo) {
  std::unique_ptr<Loop::Timer> second;
  const auto first = queue_->Add(At(1), [&second] { second.reset(); });
  second = queue_->Add(At(1), Note(2));
  const auto third = queue_->Add(At(1), Note(3));
  EXPECT_EQ(queue_->RunDue(At(1)), 2u);
  EXPECT_THAT(ran_, ElementsAre(3));
}

TEST_F(TimerQueueTest, ATimerSetMeanwhileWaitsForTheNextRound) {
  std::unique_ptr<Loop::Timer> same_time, earlier;
  const auto first = queue_->Add(At(2), [&] {
    same_time = queue_->Add(At(2), Note(9));
    earlier = queue_->Add(At(1), Note(8));
  });
  const auto second = queue_->Add(At(2), Note(2));
  EXPECT_EQ(queue_->RunDue(At(2)), 2u);
  EXPECT_THAT(ran_, ElementsAre(2));
  EXPECT_EQ(queue_->RunDue(At(2)), 2u);
  EXPECT_THAT(ran_, ElementsAre(2, 8, 9));
}

TEST_F(TimerQueueTest, ATaskMayOwnItsOwnTimer) {
  struct Owner {
    std::unique_ptr<Loop::Timer> timer;
  };
  auto owner = std::make_shared<Owner>();
  const std::weak_ptr<Owner> weak = owner;
  owner->timer = queue_->Add(At(1), [owner] {});
  owner.reset();
  queue_->RunDue(At(1));
  EXPECT_TRUE(weak.expired());
}

TEST_F(TimerQueueTest, TimersMayOutliveTheQueue) {
  const auto timer = queue_->Add(At(1), Note(1));
  queue_.reset();
  EXPECT_TRUE(ran_.empty());
}

}  // namespace
}  // namespace mandate
