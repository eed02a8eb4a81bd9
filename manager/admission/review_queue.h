// The order in which the reviews of a component get its threads: its users take turns, so that the
// flood of one user does not hold up the others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "manager/core/executor.h"
#include "manager/core/mutex.h"

namespace mandate {

// A queue of reviews in two steps: the body of a review is read on a thread, which names its user,
// and then its handler waits for the user's turn.
//
// - Bodies are read before handlers run. Reading takes CPU time alone, and the bodies in flight are
//   bounded, so that handlers do not wait long.
// - A free thread goes to the user with the fewest running handlers. Among these a user whose
//   reviews have not had a thread yet comes before one whose have, and then the one that has waited
//   longest for a turn. The handlers of one user run in the order of their reviews.
// - A user has at most as many threads as stay free (MayTakeShare): 4 of 8 if no other handler
//   runs, and a second user then 2. A thread thus stays free until several users flood, so a
//   further user's handler starts at once. If no thread is free, it starts when the first handler
//   ends, unless other users come at the same time.
// - A user has at most four times as many reviews, and bytes of their bodies, as stay free (160 of
//   200): the reviews of one user must not use up the bounds of all.
//
// Thread-safe; held by shared_ptr.
class ReviewQueue : public std::enable_shared_from_this<ReviewQueue> {
 public:
  // A flow (FlowOf()): a user name, or the namespace of ServiceAccounts, which count as one user.
  // nullopt is the flow of the reviews without a user, such as conversions.
  using User = std::optional<std::string>;
  struct Options {
    int threads = 8;
    size_t max_reviews = 200;
    size_t max_bytes = size_t{64} << 20;
  };
  // A review whose body has been read. One of the two functions is called, on a thread, unless the
  // review is cancelled.
  struct Handler {
    User user;
    Executor::Task run;
    Executor::Task reject;  // the user has too many reviews
  };
  using Reader = absl::AnyInvocable<Handler() &&>;

  // `workers` outlives this.
  ReviewQueue(Executor& workers, const Options& options) : workers_(workers), options_(options) {}

  // The number of a review to come, for Cancel().
  uint64_t NewReviewId();
  // `bytes`: of the body.
  void Add(uint64_t number, size_t bytes, Reader reader);
  // Destroys the review's functions unless they run: while all threads hang, nothing must pile up.
  // A review whose body is being read gets no handler.
  void Cancel(uint64_t number);

 private:
  struct Waiting {
    Executor::Task run;
    size_t bytes = 0;
  };
  // The reviews of one user that have been read and have not ended.
  struct Flow {
    std::map<uint64_t, Waiting> waiting;  // the oldest first
    int running = 0;
    size_t bytes = 0;
    bool served = false;  // a handler has had a thread since the user had no reviews
    uint64_t turn = 0;    // the lowest is served first
    auto order() const { return std::tuple(running, served, turn); }
    size_t reviews() const { return waiting.size() + static_cast<size_t>(running); }
  };
  using Flows = std::map<User, Flow>;
  struct Unread {
    size_t bytes = 0;
    Reader reader;
  };

  // Posts what free threads can do now.
  void Dispatch();
  // Takes the next task and a thread for it. Returns nullopt if no task may start now.
  std::optional<Executor::Task> Take();
  std::optional<Executor::Task> TakeLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Read(uint64_t number, Unread unread);
  // Lets the handler wait; false: its user has too many reviews.
  bool Enqueue(uint64_t number, size_t bytes, Handler& handler)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void OnHandled(const User& user, size_t bytes);
  void Forget(Flows::iterator it, size_t bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  Executor& workers_;
  const Options options_;
  Mutex mutex_;
  uint64_t next_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t next_turn_ ABSL_GUARDED_BY(mutex_) = 0;
  int busy_ ABSL_GUARDED_BY(mutex_) = 0;  // threads
  std::map<uint64_t, Unread> unread_ ABSL_GUARDED_BY(mutex_);
  // Reviews whose bodies are being read, and that are not cancelled.
  std::set<uint64_t> reading_ ABSL_GUARDED_BY(mutex_);
  Flows flows_ ABSL_GUARDED_BY(mutex_);
  // The sums over all flows.
  size_t reviews_ ABSL_GUARDED_BY(mutex_) = 0;
  size_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace mandate
