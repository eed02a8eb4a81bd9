#include "manager/core/thread_pool.h"

#include <algorithm>
#include <utility>

namespace mandate {

ThreadPool::ThreadPool(int threads) { AddThreads(std::max(threads, 1)); }

void ThreadPool::AddThreads(int threads) {
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { Work(); });
}

ThreadPool::~ThreadPool() {
  std::deque<Task> dropped;
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    // The tasks are destroyed after the lock is released, because a task's destructor may post.
    dropped.swap(tasks_);
    changed_.NotifyAll();
  }
  for (std::thread& thread : threads_) thread.join();
}

void ThreadPool::Post(Task task) {
  MutexLock lock(mutex_);
  if (stopping_) return;
  tasks_.push_back(std::move(task));
  changed_.NotifyOne();
}

void ThreadPool::Work() {
  while (true) {
    Task task;
    {
      MutexLock lock(mutex_);
      while (!stopping_ && tasks_.empty()) changed_.Wait(mutex_);
      if (stopping_) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    std::move(task)();
  }
}

}  // namespace mandate
