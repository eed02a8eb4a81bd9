#include "manager/admission/review_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "manager/core/testing/simulated_loop.h"

namespace mandate {
namespace {

constexpr absl::Duration kSecond = absl::Seconds(1);

// Threads that need a second for each task, and finish it then. Single-threaded.
class SlowWorkers : public Executor {
 public:
  explicit SlowWorkers(SimulatedLoop& loop) : loop_(loop) {}

  void Post(Task task) override {
    most_ = std::max(most_, ++busy_);
    loop_.PostAt(loop_.clock().TimeNow() + kSecond, [this, task = std::move(task)]() mutable {
      --busy_;
      std::move(task)();
    });
  }
  int busy() const { return busy_; }
  int TakeMost() { return std::exchange(most_, 0); }

 private:
  SimulatedLoop& loop_;
  int busy_ = 0, most_ = 0;
};

class ReviewQueueTest : public testing::Test {
 protected:
  using User = ReviewQueue::User;

  void Start(const ReviewQueue::Options& options) {
    queue_ = std::make_shared<ReviewQueue>(workers_, options);
  }
  // Adds a review; its number.
  uint64_t Add(const User& user, size_t bytes = 1) {
    const uint64_t number = queue_->NewReviewId();
    queue_->Add(number, bytes, [this, user] {
      ++read_;
      return ReviewQueue::Handler{.user = user,
                                  .run = [this, user] { handled_.push_back(user); },
                                  .reject = [this, user] { rejected_.push_back(user); }};
    });
    return number;
  }
  // Adds reviews, and waits until all are read; the handlers wait meanwhile.
  void Flood(const std::vector<User>& users, int reviews_each) {
    const int all = read_ + reviews_each * static_cast<int>(users.size());
    for (int i = 0; i < reviews_each; ++i) {
      for (const User& user : users) Add(user);
    }
    ASSERT_TRUE(loop_.RunUntil([&] { return read_ == all; }));
  }
  auto Handled(const User& user) const { return std::ranges::count(handled_, user); }
  // The time until a review that is added now has been handled.
  absl::Duration TimeOf(const User& user) {
    const absl::Time start = loop_.clock().TimeNow();
    const auto before = Handled(user);
    Add(user);
    EXPECT_TRUE(loop_.RunUntil([&] { return Handled(user) > before; }));
    return loop_.clock().TimeNow() - start;
  }

  SimulatedLoop loop_;
  SlowWorkers workers_{loop_};
  std::shared_ptr<ReviewQueue> queue_;
  int read_ = 0;
  std::vector<User> handled_, rejected_;
};

TEST_F(ReviewQueueTest, AFloodLeavesThreadsToOthers) {
  Start({.threads = 8});
  Flood({"flood"}, 100);
  EXPECT_EQ(Handled("flood"), 0) << "bodies are read first";
  EXPECT_EQ(workers_.TakeMost(), 8);
  loop_.RunFor(absl::Milliseconds(500));
  EXPECT_EQ(workers_.busy(), 4);
  EXPECT_EQ(TimeOf("ann"), 2 * kSecond) << "to read it, and to handle it";
  loop_.RunFor(absl::Minutes(1));
  EXPECT_EQ(Handled("flood"), 100);
  EXPECT_EQ(workers_.busy(), 0);
}

// A review of another user waits for the end of one handler at most, also if no thread is free.
TEST_F(ReviewQueueTest, FloodsOfSeveralUsersDelayAnotherByOneHandler) {
  for (const int threads : {1, 2, 3, 8}) {
    SCOPED_TRACE(threads);
    Start({.threads = threads});
    Flood({"a", "b", "c", "d", "e", "f", "g", "h"}, 20);
    workers_.TakeMost();
    loop_.RunFor(absl::Milliseconds(8500));  // each has had a turn
    EXPECT_EQ(workers_.busy(), threads);
    EXPECT_LE(TimeOf("ann"), 3 * kSecond) << "to wait for a handler, to be read, and to be handled";
    EXPECT_LE(TimeOf("ann"), 3 * kSecond) << "and once more";
    loop_.RunFor(absl::Minutes(5));
    EXPECT_EQ(workers_.TakeMost(), threads);
    EXPECT_EQ(workers_.busy(), 0);
  }
}

TEST_F(ReviewQueueTest, UsersTakeTurns) {
  Start({.threads = 1});
  Flood({"a", std::nullopt, ""}, 1);
  Flood({"a"}, 2);
  Flood({""}, 1);
  loop_.RunFor(absl::Minutes(1));
  EXPECT_EQ(handled_, (std::vector<User>{"a", std::nullopt, "", "a", "", "a"}));
}

TEST_F(ReviewQueueTest, TheReviewsOfAUserAreInOrder) {
  Start({.threads = 1});
  std::vector<int> order;
  for (int i = 0; i < 10; ++i) {
    queue_->Add(queue_->NewReviewId(), 1, [&order, i] {
      return ReviewQueue::Handler{
          .user = "a", .run = [&order, i] { order.push_back(i); }, .reject = [] {}};
    });
  }
  loop_.RunFor(absl::Minutes(1));
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

TEST_F(ReviewQueueTest, RejectsWhatAUserHasTooMuchOf) {
  Start({.threads = 8, .max_reviews = 200, .max_bytes = 1000});
  Flood({"flood"}, 200);
  EXPECT_EQ(rejected_, std::vector<User>(40, "flood"));
  rejected_.clear();
  Add("large", 700);
  Add("large", 1);
  loop_.RunFor(2 * kSecond);
  EXPECT_EQ(rejected_, std::vector<User>{"large"});
  Flood({"ann"}, 5);
  loop_.RunFor(absl::Minutes(2));
  EXPECT_EQ(Handled("ann"), 5);
  rejected_.clear();
  Flood({"flood"}, 160);
  loop_.RunFor(absl::Minutes(2));
  EXPECT_TRUE(rejected_.empty()) << "those that have ended do not count";
  EXPECT_EQ(Handled("flood"), 320);
}

TEST_F(ReviewQueueTest, WhatHasEndedDoesNotCountWhileMoreOfItsUserWaits) {
  Start({.threads = 1, .max_bytes = 1000});
  Add("large", 500);
  for (int i = 0; i < 30; ++i) {
    Add("large", 200);
    loop_.RunFor(2 * kSecond);  // reads it, and handles the one before
  }
  loop_.RunFor(absl::Minutes(1));
  EXPECT_TRUE(rejected_.empty());
  EXPECT_EQ(Handled("large"), 31);
}

TEST_F(ReviewQueueTest, WhatIsCancelledDoesNotCount) {
  Start({.threads = 8, .max_reviews = 200, .max_bytes = 1000});
  std::vector<uint64_t> waiting;
  const auto add = [&](int reviews, size_t bytes) {
    for (int i = 0; i < reviews; ++i) waiting.push_back(Add("a", bytes));
    const int all = static_cast<int>(waiting.size());
    ASSERT_TRUE(loop_.RunUntil([&] { return read_ == all; }));
    loop_.RunReady();
  };
  add(5, 1);  // of which four have threads
  for (int round = 0; round < 4; ++round) {
    SCOPED_TRACE(round);
    const size_t before = waiting.size();
    add(100, 5);
    for (size_t i = before; i < waiting.size(); ++i) queue_->Cancel(waiting[i]);
  }
  EXPECT_TRUE(rejected_.empty());
}

TEST_F(ReviewQueueTest, ForgetsWhatIsCancelled) {
  Start({.threads = 1});
  const auto held = std::make_shared<int>();
  // Adds a review of "b" whose functions hold `held`; its reader cancels the review `number`.
  const auto add = [this, &held](std::optional<uint64_t> number = std::nullopt) {
    const uint64_t own = queue_->NewReviewId();
    queue_->Add(own, 1, [this, held, number = number.value_or(own + 1000)] {
      ++read_;
      queue_->Cancel(number);
      return ReviewQueue::Handler{
          .user = "b", .run = [this, held] { handled_.push_back("b"); }, .reject = [held] {}};
    });
    return own;
  };
  Add("a");  // has the thread
  queue_->Cancel(add());
  EXPECT_EQ(held.use_count(), 1) << "before it is read";
  add(/*number=*/2);
  loop_.RunUntil([&] { return read_ == 2; });
  loop_.RunReady();
  EXPECT_EQ(held.use_count(), 1) << "while it is read";
  Add("b");  // handled first
  const uint64_t waiting = add();
  loop_.RunUntil([&] { return read_ == 4; });
  EXPECT_GT(held.use_count(), 1);
  queue_->Cancel(waiting);
  loop_.RunReady();
  EXPECT_EQ(held.use_count(), 1) << "while its handler waits";
  queue_->Cancel(12345);
  loop_.RunFor(absl::Minutes(1));
  EXPECT_EQ(handled_, (std::vector<User>{"a", "b"}));
}

}  // namespace
}  // namespace mandate
