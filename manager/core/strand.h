// A serial executor over a pool: tasks that belong together run one at a time, in order.
#ifndef MANAGER_CORE_STRAND_H_
#define MANAGER_CORE_STRAND_H_

#include <cstddef>
#include <memory>

#include "absl/time/time.h"
#include "manager/core/clock.h"
#include "manager/core/executor.h"

namespace mandate {

// An executor that runs its tasks one at a time, in the order in which they were posted, on the
// threads of a pool. It keeps a thread for at most `turn` and the task that is then running, and
// gets in line behind the pool's other work for the rest: strands of one pool take turns.
//
// Destroying it destroys the tasks that wait; the one that runs goes on, and may outlive it.
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

  // Tasks that have not begun.
  size_t waiting() const;

 private:
  class State;
  const std::shared_ptr<State> state_;  // shared with the pool's tasks
};

}  // namespace mandate

#endif  // MANAGER_CORE_STRAND_H_
