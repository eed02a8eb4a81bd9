#include "manager/core/event_loop.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <climits>
#include <system_error>
#include <unordered_map>
#include <utility>

#include "absl/strings/str_cat.h"

namespace mandate {
namespace {

absl::Status ErrnoStatus(const char* what) {
  const int error = errno;
  return error == EMFILE || error == ENFILE || error == ENOMEM || error == ENOSPC
             ? absl::ResourceExhaustedError(absl::StrCat(
                   what, ": ", strerror(error), "; raise the limit on open files (ulimit -n)"))
             : absl::InternalError(absl::StrCat(what, ": ", strerror(error)));
}

}  // namespace

// The epoll set. Shared with its watches, which may outlive the loop.
class EventLoop::Poller {
 public:
  static absl::StatusOr<std::shared_ptr<Poller>> Create() {
    auto poller = std::make_shared<Poller>();
    poller->epoll_ = epoll_create1(EPOLL_CLOEXEC);
    if (poller->epoll_ < 0) return ErrnoStatus("epoll_create1");
    poller->wake_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (poller->wake_ < 0) return ErrnoStatus("eventfd");
    epoll_event event = {.events = EPOLLIN, .data = {.u64 = kWake}};
    if (epoll_ctl(poller->epoll_, EPOLL_CTL_ADD, poller->wake_, &event) != 0) {
      return ErrnoStatus("epoll_ctl");
    }
    return poller;
  }

  Poller() = default;
  Poller(const Poller&) = delete;
  Poller& operator=(const Poller&) = delete;
  ~Poller() {
    if (wake_ >= 0) close(wake_);
    if (epoll_ >= 0) close(epoll_);
  }

  // Thread-safe.
  void Wake() {
    const uint64_t one = 1;
    // The write can only fail if the counter is full, and then the loop wakes anyway.
    [[maybe_unused]] const ssize_t written = write(wake_, &one, sizeof one);
  }

  // Waits, and then passes each callback whose watch still exists to `run`.
  template <class Run>
  void Wait(int timeout_ms, Run&& run) {
    std::array<epoll_event, 128> events;
    const int count = epoll_wait(epoll_, events.data(), events.size(), timeout_ms);
    for (int i = 0; i < count; ++i) {
      const uint64_t id = events[i].data.u64;
      if (id == kWake) {
        uint64_t ignored;
        [[maybe_unused]] const ssize_t bytes = read(wake_, &ignored, sizeof ignored);
        continue;
      }
      // An earlier callback of this round may have ended this watch.
      const auto it = callbacks_.find(id);
      if (it == callbacks_.end()) continue;
      const std::shared_ptr<FdCallback> callback = it->second;
      run([&] { (*callback)(events[i].events); });
    }
  }

  absl::StatusOr<uint64_t> Add(int fd, uint32_t events, FdCallback callback) {
    const uint64_t id = next_id_++;
    epoll_event event = {.events = events, .data = {.u64 = id}};
    if (epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) != 0) return ErrnoStatus("epoll_ctl");
    callbacks_.emplace(id, std::make_shared<FdCallback>(std::move(callback)));
    return id;
  }

  void Modify(uint64_t id, int fd, uint32_t events) {
    epoll_event event = {.events = events, .data = {.u64 = id}};
    [[maybe_unused]] const int result = epoll_ctl(epoll_, EPOLL_CTL_MOD, fd, &event);
    assert(result == 0);
  }

  void Remove(uint64_t id, int fd) {
    epoll_ctl(epoll_, EPOLL_CTL_DEL, fd, nullptr);
    // The callback is destroyed after the map is consistent again, because it may own other
    // watches.
    const auto node = callbacks_.extract(id);
  }

 private:
  static constexpr uint64_t kWake = 0;
  int epoll_ = -1;
  int wake_ = -1;
  uint64_t next_id_ = kWake + 1;
  std::unordered_map<uint64_t, std::shared_ptr<FdCallback>> callbacks_;
};

class EventLoop::PolledFd : public EventLoop::FdWatch {
 public:
  PolledFd(std::shared_ptr<Poller> poller, uint64_t id, int fd)
      : poller_(std::move(poller)), id_(id), fd_(fd) {}
  ~PolledFd() override { poller_->Remove(id_, fd_); }
  void SetEvents(uint32_t events) override { poller_->Modify(id_, fd_, events); }

 private:
  const std::shared_ptr<Poller> poller_;
  const uint64_t id_;
  const int fd_;
};

absl::StatusOr<std::unique_ptr<EventLoop>> EventLoop::Create(Options options) {
  absl::StatusOr<std::shared_ptr<Poller>> poller = Poller::Create();
  if (!poller.ok()) return std::move(poller).status();
  auto loop = std::unique_ptr<EventLoop>(new EventLoop(std::move(options), *std::move(poller)));
  // Only the program's main thread handles signals.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  absl::Status status;
  try {
    loop->thread_ = std::jthread([raw = loop.get()] { raw->Run(); });
    pthread_setname_np(loop->thread_.native_handle(),
                       loop->options_.thread_name.substr(0, 15).c_str());
  } catch (const std::system_error& error) {
    status = absl::ResourceExhaustedError(
        absl::StrCat("cannot start the thread ", loop->options_.thread_name, ": ", error.what()));
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (!status.ok()) return status;
  return loop;
}

EventLoop::EventLoop(Options options, std::shared_ptr<Poller> poller)
    : options_(std::move(options)),
      poller_(std::move(poller)),
      timers_(std::make_shared<TimerQueue>()),
      activity_(*options_.clock, options_.turn_limit) {}

EventLoop::~EventLoop() { Stop(); }

void EventLoop::Post(Task task) {
  bool wake;
  {
    MutexLock lock(mutex_);
    if (stopping_) {
      // The caller destroys the task, after the lock is released.
      wake = false;
    } else {
      wake = std::exchange(asleep_, false);
      posted_.push_back(std::move(task));
      stats_.most_tasks_queued = std::max(stats_.most_tasks_queued, posted_.size());
    }
  }
  // The loop's own thread looks for tasks before it sleeps.
  if (wake && !IsCurrent()) poller_->Wake();
}

std::unique_ptr<Loop::Timer> EventLoop::RunAt(absl::Time when, Task task) {
  assert(IsCurrent());
  return timers_->Add(when, std::move(task));
}

bool EventLoop::IsCurrent() const { return thread_id_.load() == std::this_thread::get_id(); }

void EventLoop::Await(const Latch& latch) {
  if (!IsCurrent()) return latch.Wait();
  if (latch.IsSet()) return;
  options_.log.Error(
      "Skipped a wait on the event loop's own thread, because the wait would never end",
      {{"in", activity_.CurrentLabel()}});
}

absl::StatusOr<std::unique_ptr<EventLoop::FdWatch>> EventLoop::WatchFd(int fd, uint32_t events,
                                                                       FdCallback callback) {
  assert(IsCurrent());
  absl::StatusOr<uint64_t> id = poller_->Add(fd, events, std::move(callback));
  if (!id.ok()) return std::move(id).status();
  return std::make_unique<PolledFd>(poller_, *id, fd);
}

void EventLoop::Stop() {
  assert(!IsCurrent());
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  poller_->Wake();
  MutexLock lock(join_mutex_);
  if (thread_.joinable()) thread_.join();
}

EventLoop::Stats EventLoop::stats() const {
  MutexLock lock(mutex_);
  Stats stats = stats_;
  stats.tasks_queued = posted_.size();
  return stats;
}

template <class Work>
void EventLoop::Measure(Work&& work) {
  activity_.BeginTurn();
  work();
  running_.longest_run = std::max(running_.longest_run, activity_.EndTurn());
}

int EventLoop::TimeToNextTimer() const {
  const absl::Time next = timers_->next();
  if (next == absl::InfiniteFuture()) return -1;
  const absl::Duration wait = next - options_.clock->TimeNow();
  if (wait <= absl::ZeroDuration()) return 0;
  const int64_t milliseconds = absl::ToInt64Milliseconds(absl::Ceil(wait, absl::Milliseconds(1)));
  return static_cast<int>(std::min<int64_t>(milliseconds, INT_MAX));
}

void EventLoop::Poll() {
  int timeout = TimeToNextTimer();
  {
    MutexLock lock(mutex_);
    if (!posted_.empty() || stopping_) timeout = 0;
    asleep_ = timeout != 0;
  }
  poller_->Wait(timeout, [this](auto&& callback) {
    ++running_.descriptor_events;
    Measure(callback);
  });
}

void EventLoop::Run() noexcept {
  thread_id_ = std::this_thread::get_id();
  std::vector<Task> batch;
  while (true) {
    Poll();
    Measure([this] { running_.timers_run += timers_->RunDue(options_.clock->TimeNow()); });
    {
      MutexLock lock(mutex_);
      asleep_ = false;
      if (stopping_) break;
      batch.swap(posted_);
    }
    RunPosted(batch);
    MutexLock lock(mutex_);
    const size_t most = stats_.most_tasks_queued;
    stats_ = running_;
    stats_.most_tasks_queued = most;
  }
  DestroyEverything();
  thread_id_ = std::thread::id();
}

void EventLoop::RunPosted(std::vector<Task>& batch) {
  for (Task& task : batch) {
    Measure([&task] {
      // Each task is destroyed before the next one runs.
      Task running = std::move(task);
      std::move(running)();
    });
    ++running_.tasks_run;
  }
  batch.clear();
}

void EventLoop::DestroyEverything() {
  // Post() destroys tasks that a destructor posts. Clear() destroys timers that it sets.
  std::vector<Task> unrun;
  {
    MutexLock lock(mutex_);
    unrun.swap(posted_);
  }
  unrun.clear();
  timers_->Clear();
}

}  // namespace mandate
