#include "manager/core/event_loop.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "manager/core/clock.h"
#include "manager/core/executor.h"
#include "manager/core/loop_label.h"
#include "manager/core/testing/log_capture.h"

namespace mandate {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class EventLoopTest : public ::testing::Test {
 protected:
  // Runs `work` on the loop and waits for it.
  template <class Work>
  void OnLoop(Work work) {
    Latch done;
    loop_->Post([&] {
      work();
      done.Set();
    });
    loop_->Await(done);
  }

  std::unique_ptr<EventLoop> loop_ = *EventLoop::Create();
};

TEST_F(EventLoopTest, RunsTasksInOrderOnItsOwnThread) {
  std::vector<int> order;
  EXPECT_FALSE(loop_->IsCurrent());
  for (int i = 0; i < 3; ++i) {
    loop_->Post([&order, i, this] {
      EXPECT_TRUE(loop_->IsCurrent());
      order.push_back(i);
    });
  }
  OnLoop([] {});
  EXPECT_THAT(order, ElementsAre(0, 1, 2));
}

TEST_F(EventLoopTest, EachThreadsTasksKeepTheirOrder) {
  constexpr int kThreads = 4, kTasks = 2000;
  std::vector<std::vector<int>> seen(kThreads);
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < kTasks; ++i) loop_->Post([&seen, t, i] { seen[t].push_back(i); });
      });
    }
  }
  OnLoop([] {});
  for (const auto& order : seen) {
    ASSERT_EQ(order.size(), size_t{kTasks});
    EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
  }
  OnLoop([] {});  // the round that ran them is over, and counted
  EXPECT_GE(loop_->stats().tasks_run, uint64_t{kThreads * kTasks});
  EXPECT_GT(loop_->stats().most_tasks_queued, 0u);
}

TEST_F(EventLoopTest, TimersRunNotBeforeTheirTime) {
  Latch done;
  absl::Time set, ran;
  std::unique_ptr<Loop::Timer> timer, cancelled;
  bool cancelled_ran = false;
  OnLoop([&] {
    set = loop_->clock().TimeNow();
    cancelled = loop_->RunAt(set + absl::Milliseconds(5), [&] { cancelled_ran = true; });
    timer = loop_->RunAt(set + absl::Milliseconds(20), [&] {
      ran = loop_->clock().TimeNow();
      done.Set();
    });
    cancelled.reset();
  });
  loop_->Await(done);
  EXPECT_GE(ran - set, absl::Milliseconds(20));
  OnLoop([&] {
    EXPECT_FALSE(cancelled_ran);
    timer.reset();
  });
}

TEST_F(EventLoopTest, ATimerInThePastRunsAtOnce) {
  Latch done;
  std::unique_ptr<Loop::Timer> timer;
  OnLoop([&] { timer = loop_->RunAt(absl::InfinitePast(), [&] { done.Set(); }); });
  loop_->Await(done);
  OnLoop([&] { timer.reset(); });
}

TEST_F(EventLoopTest, WatchesDescriptors) {
  int pipe_ends[2];
  ASSERT_EQ(pipe2(pipe_ends, O_NONBLOCK | O_CLOEXEC), 0);
  Latch readable;
  std::unique_ptr<EventLoop::FdWatch> watch;
  int calls = 0;
  OnLoop([&] {
    watch = *loop_->WatchFd(pipe_ends[0], EPOLLIN, [&](uint32_t events) {
      EXPECT_TRUE(events & EPOLLIN);
      char byte;
      EXPECT_EQ(read(pipe_ends[0], &byte, 1), 1);
      ++calls;
      readable.Set();
    });
  });
  ASSERT_EQ(write(pipe_ends[1], "x", 1), 1);
  loop_->Await(readable);
  OnLoop([&] {
    EXPECT_EQ(calls, 1);
    watch->SetEvents(0);
  });
  ASSERT_EQ(write(pipe_ends[1], "y", 1), 1);
  for (int i = 0; i < 3; ++i) OnLoop([] {});
  OnLoop([&] {
    EXPECT_EQ(calls, 1);
    watch.reset();
  });
  close(pipe_ends[0]);
  close(pipe_ends[1]);
}

TEST_F(EventLoopTest, ACallbackMayEndItsOwnAndOtherWatches) {
  int pipes[2][2];
  for (auto& ends : pipes) {
    ASSERT_EQ(pipe2(ends, O_NONBLOCK | O_CLOEXEC), 0);
    ASSERT_EQ(write(ends[1], "x", 1), 1);
  }
  std::unique_ptr<EventLoop::FdWatch> watches[2];
  int calls = 0;
  OnLoop([&] {
    for (int i = 0; i < 2; ++i) {
      watches[i] = *loop_->WatchFd(pipes[i][0], EPOLLIN, [&](uint32_t) {
        ++calls;
        watches[0].reset();
        watches[1].reset();
      });
    }
  });
  for (int i = 0; i < 3; ++i) OnLoop([] {});
  EXPECT_EQ(calls, 1);
  for (auto& ends : pipes) {
    close(ends[0]);
    close(ends[1]);
  }
}

TEST_F(EventLoopTest, ABadDescriptorIsAnError) {
  OnLoop([&] { EXPECT_FALSE(loop_->WatchFd(-1, EPOLLIN, [](uint32_t) {}).ok()); });
}

TEST_F(EventLoopTest, StopDestroysUnrunTasksAndTimers) {
  const auto alive = std::make_shared<int>(1);
  Latch running, go_on;
  loop_->Post([&] {
    running.Set();
    go_on.Wait();
  });
  loop_->Await(running);
  loop_->Post([alive] { ADD_FAILURE() << "ran after Stop"; });
  std::unique_ptr<Loop::Timer> timer;
  std::jthread stopper([&] { loop_->Stop(); });
  // If a posted task is destroyed while the loop is busy, then Stop() has begun.
  std::weak_ptr<int> posted;
  do {
    auto task_owns = std::make_shared<int>();
    posted = task_owns;
    loop_->Post([task_owns = std::move(task_owns)] {});
  } while (!posted.expired());
  go_on.Set();
  stopper.join();
  loop_->Post([alive] { ADD_FAILURE() << "ran after Stop"; });
  EXPECT_EQ(alive.use_count(), 1);
}

TEST_F(EventLoopTest, WhatUnrunTasksOwnMayUseTheLoopWhenDestroyed) {
  struct PostsWhenDestroyed {
    explicit PostsWhenDestroyed(EventLoop& to) : loop(to) {}
    ~PostsWhenDestroyed() {
      loop.Post([] { ADD_FAILURE(); });
      timer.reset();
    }
    EventLoop& loop;
    std::unique_ptr<Loop::Timer> timer;
  };
  Latch set;
  loop_->Post([&] {
    auto owner = std::make_shared<PostsWhenDestroyed>(*loop_);
    auto* raw = owner.get();
    raw->timer = loop_->RunAt(absl::InfiniteFuture(), [owner] {});
    set.Set();
  });
  loop_->Await(set);
  loop_->Stop();
}

TEST_F(EventLoopTest, AWaitOnItsOwnThreadIsAnErrorAndReturns) {
  auto log = std::make_shared<LogCapture>();
  loop_ = *EventLoop::Create({.log = Logger(log, Clock::Real())});
  EXPECT_TRUE(loop_->CanAwait());
  OnLoop([&] {
    EXPECT_FALSE(loop_->CanAwait());
    Latch set;
    set.Set();
    loop_->Await(set);
    EXPECT_TRUE(log->lines().empty());
    LoopLabel label("a", "map");
    Latch never;
    loop_->Await(never);
  });
  EXPECT_EQ(log->lines().size(), 1u);
  EXPECT_THAT(log->Last("own thread"), HasSubstr("a: map"));
}

// A clock that tasks advance. Thread-safe.
class TaskClock : public Clock {
 public:
  absl::Time TimeNow() const override {
    return absl::UnixEpoch() + absl::Milliseconds(milliseconds_.load());
  }
  absl::Time WallTimeNow() const override { return TimeNow(); }
  void Add(int milliseconds) { milliseconds_ += milliseconds; }

 private:
  std::atomic<int> milliseconds_ = 0;
};

TEST_F(EventLoopTest, LongTurnsAreRemembered) {
  TaskClock clock;
  loop_ = *EventLoop::Create({.clock = &clock, .turn_limit = absl::Milliseconds(100)});
  OnLoop([&] { clock.Add(99); });
  OnLoop([&] {
    LoopLabel label("task");
    clock.Add(100);
  });
  std::unique_ptr<Loop::Timer> timer;
  Latch rang;
  OnLoop([&] {
    timer = loop_->RunAt(clock.TimeNow(), [&] {
      LoopLabel label("timer");
      clock.Add(200);
      rang.Set();
    });
  });
  loop_->Await(rang);
  OnLoop([] {});
  const LoopActivity::View view = loop_->activity().Look();
  ASSERT_EQ(view.ended.size(), 2u);
  EXPECT_EQ(view.ended[0].label, "task");
  EXPECT_EQ(view.ended[1].label, "timer");
  EXPECT_EQ(view.ended[1].length, absl::Milliseconds(200));
  loop_.reset();
}

TEST_F(EventLoopTest, WhatIsRunningIsSeenFromAnotherThread) {
  TaskClock clock;
  loop_ = *EventLoop::Create({.clock = &clock});
  Latch running, go_on;
  loop_->Post([&] {
    LoopLabel label("stuck");
    clock.Add(3000);
    running.Set();
    go_on.Wait();
  });
  running.Wait();
  const LoopActivity::View view = loop_->activity().Look();
  ASSERT_TRUE(view.running.has_value());
  EXPECT_EQ(view.running->label, "stuck");
  EXPECT_EQ(view.running->length, absl::Seconds(3));
  go_on.Set();
  loop_.reset();
}

// The limit is the number of open descriptors plus this many.
class DescriptorLimit {
 public:
  explicit DescriptorLimit(rlim_t more) {
    getrlimit(RLIMIT_NOFILE, &before_);
    const int lowest_free = dup(0);
    close(lowest_free);
    const rlimit limit = {static_cast<rlim_t>(lowest_free) + more, before_.rlim_max};
    setrlimit(RLIMIT_NOFILE, &limit);
  }
  ~DescriptorLimit() { setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_;
};

TEST_F(EventLoopTest, TooFewDescriptorsAreAnError) {
  for (const rlim_t more : {0, 1}) {
    const DescriptorLimit limit(more);
    const auto loop = EventLoop::Create();
    EXPECT_EQ(loop.status().code(), absl::StatusCode::kResourceExhausted) << loop.status();
  }
  const DescriptorLimit limit(2);
  EXPECT_TRUE(EventLoop::Create().ok());
}

TEST_F(EventLoopTest, AThreadThatGetsTheIdOfItsOwnIsAnother) {
  loop_->Stop();
  // The C library gives a new thread the stack, and with it the id, of a thread that has ended.
  std::jthread([this] { EXPECT_FALSE(loop_->IsCurrent()); }).join();
}

TEST_F(EventLoopTest, ATimerMayOutliveTheLoop) {
  std::unique_ptr<Loop::Timer> timer;
  OnLoop([&] { timer = loop_->RunAt(absl::InfiniteFuture(), [] {}); });
  loop_.reset();
  timer.reset();
}

TEST(EventLoopDeathTest, AnExceptionEndsTheProcess) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_DEATH(
      {
        auto loop = *EventLoop::Create();
        Latch never;
        loop->Post([] { throw 1; });
        never.Wait();
      },
      "");
}

}  // namespace
}  // namespace mandate
