#include "manager/core/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>

namespace mandate {
namespace {

TEST(ThreadPoolTest, RunsEveryTaskOnce) {
  std::atomic<int> runs = 0;
  Latch done;
  ThreadPool pool(4);
  for (int i = 0; i < 1000; ++i) {
    pool.Post([&] {
      if (++runs == 1000) done.Set();
    });
  }
  pool.Await(done);
  EXPECT_EQ(runs, 1000);
}

TEST(ThreadPoolTest, RunsAsManyAtOnceAsItHasThreads) {
  ThreadPool pool(3);
  std::atomic<int> inside = 0;
  Latch all, release;
  for (int i = 0; i < 3; ++i) {
    pool.Post([&] {
      if (++inside == 3) all.Set();
      release.Wait();
    });
  }
  pool.Await(all);  // hangs if a thread were missing
  release.Set();
}

TEST(ThreadPoolTest, ThreadsThatAreAddedTakeWhatWaits) {
  ThreadPool pool(1);
  Latch release, ran;
  pool.Post([&] { release.Wait(); });
  pool.Post([&] { ran.Set(); });
  pool.AddThreads(1);
  EXPECT_EQ(pool.threads(), 2);
  ran.Wait();  // hangs if there were no second one
  release.Set();
}

TEST(ThreadPoolTest, StartsInOrder) {
  ThreadPool pool(1);
  std::vector<int> order;
  Latch done;
  for (int i = 0; i < 10; ++i) pool.Post([&order, i] { order.push_back(i); });
  pool.Post([&] { done.Set(); });
  pool.Await(done);
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

TEST(ThreadPoolTest, HasAtLeastOneThread) {
  ThreadPool pool(0);
  Latch done;
  pool.Post([&] { done.Set(); });
  pool.Await(done);
  EXPECT_EQ(pool.threads(), 1);
}

TEST(ThreadPoolTest, DestructionWaitsForTheRunningAndDropsTheWaiting) {
  auto dropped = std::make_shared<int>(0);
  std::weak_ptr<int> watch = dropped;
  std::atomic<bool> finished = false;
  Latch started, release;
  auto pool = std::make_unique<ThreadPool>(1);
  pool->Post([&] {
    started.Set();
    release.Wait();
    finished = true;
  });
  pool->Post([dropped = std::move(dropped)] {});
  started.Wait();
  std::thread releaser([&] { release.Set(); });
  // If the running task ends before the pool starts to stop, the second task may run. It is either
  // run or destroyed, and never leaked.
  pool.reset();
  releaser.join();
  EXPECT_TRUE(finished);
  EXPECT_TRUE(watch.expired());
}

}  // namespace
}  // namespace mandate
