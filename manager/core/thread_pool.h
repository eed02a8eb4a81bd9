// Threads that run blocking work, such as reconcilers.
#pragma once

#include <deque>
#include <thread>
#include <vector>

#include "manager/core/executor.h"
#include "manager/core/mutex.h"

namespace mandate {

// A number of threads that run tasks. Tasks start in the order in which they were posted.
// Thread-safe, except AddThreads() and threads(), which only the owner may call.
class ThreadPool : public Executor {
 public:
  // At least one thread.
  explicit ThreadPool(int threads);
  // Waits for the running tasks, and destroys the waiting ones without running them. Must not be
  // called from a task.
  ~ThreadPool() override;

  void Post(Task task) override;

  void AddThreads(int threads);
  int threads() const { return static_cast<int>(threads_.size()); }

 private:
  void Work();

  Mutex mutex_;
  CondVar changed_;
  std::deque<Task> tasks_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace mandate
