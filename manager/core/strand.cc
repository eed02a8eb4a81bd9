#include "manager/core/strand.h"

#include <deque>
#include <utility>

#include "manager/core/mutex.h"

namespace mandate {

class Strand::State : public std::enable_shared_from_this<State> {
 public:
  explicit State(const Options& options) : options_(options) {}

  void Post(Task task) {
    {
      MutexLock lock(mutex_);
      if (closed_) return;
      tasks_.push_back(std::move(task));
      if (std::exchange(scheduled_, true)) return;
    }
    Schedule();
  }

  void Close() {
    std::deque<Task> dropped;
    MutexLock lock(mutex_);
    closed_ = true;
    // The tasks are destroyed after the lock is released, because a task's destructor may post.
    dropped.swap(tasks_);
  }

  void Await(const Latch& latch) { options_.pool.Await(latch); }

  size_t waiting() const {
    MutexLock lock(mutex_);
    return tasks_.size();
  }

 private:
  void Schedule() {
    options_.pool.Post([self = shared_from_this()] { self->Run(); });
  }

  void Run() {
    const absl::Time end = options_.clock.TimeNow() + options_.turn;
    do {
      Task task;
      {
        MutexLock lock(mutex_);
        if (tasks_.empty()) {
          scheduled_ = false;
          return;
        }
        task = std::move(tasks_.front());
        tasks_.pop_front();
      }
      std::move(task)();
    } while (options_.clock.TimeNow() < end);
    Schedule();
  }

  const Options options_;
  mutable Mutex mutex_;
  std::deque<Task> tasks_ ABSL_GUARDED_BY(mutex_);
  bool scheduled_ ABSL_GUARDED_BY(mutex_) = false;  // posted to the pool, or running there
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
};

Strand::Strand(Options options) : state_(std::make_shared<State>(options)) {}
Strand::~Strand() { state_->Close(); }
void Strand::Post(Task task) { state_->Post(std::move(task)); }
void Strand::Await(const Latch& latch) { state_->Await(latch); }
size_t Strand::waiting() const { return state_->waiting(); }

}  // namespace mandate
