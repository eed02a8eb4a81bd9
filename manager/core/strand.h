// A serial executor on a pool: its tasks run one at a time, in order.
#pragma once

#include <cstddef>
#include <memory>

#include "absl/time/time.h"
#include "manager/core/clock.h"
#include "manager/core/executor.h"

namespace mandate {

// An executor that runs its tasks one at a time, in the order in which they were posted, on the
// threads of a pool. It uses a thread until `turn` has passed and the running task ends. It then
// waits in the pool's queue before it runs its other tasks, so that the strands of one pool take
// turns.
//
// Destroying it destroys the waiting tasks. The running task continues and may outlive it.
// Thread-safe.
class Strand : public Executor {
 public:
  struct Options {
    Executor& pool;      // outlives the strand and its tasks
    const Clock& clock;  // outlives the strand and its tasks
    absl::Duration turn = absl::Milliseconds(1);
  };

  explicit Strand(Options options);
  ~Strand() override;
  Strand(const Strand&) = delete;
  Strand& operator=(const Strand&) = delete;

  void Post(Task task) override;
  void Await(const Latch& latch) override;

  // The number of tasks that have not started.
  size_t waiting() const;

 private:
  class State;
  const std::shared_ptr<State> state_;  // shared with the pool's tasks
};

}  // namespace mandate
