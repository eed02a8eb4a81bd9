// Threads of one component that wait until its view has caught up with a write.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "manager/core/call_context.h"
#include "manager/core/executor.h"
#include "manager/object/kind.h"

namespace mandate {

// The waits of one component. Held by shared_ptr; its destruction ends every wait with kCancelled.
// Thread-safe, except for Evaluate().
class WaitSet : public std::enable_shared_from_this<WaitSet> {
 public:
  // Returns the result of the wait, once there is one. Thread-safe and quick.
  using Check = std::function<std::optional<absl::Status>()>;

  explicit WaitSet(Loop& loop) : loop_(loop) {}  // outlives this
  ~WaitSet();

  // Blocks; not to be called on the loop. kDeadlineExceeded and kCancelled name `what`.
  absl::Status Wait(const CallContext& context, const KindInfo& kind, std::string what,
                    Check check);

  // Something about the kind has changed. Loop thread only.
  void Evaluate(const KindInfo& kind);

 private:
  struct Waiter;
  void Add(std::shared_ptr<Waiter> waiter);

  Loop& loop_;
  std::vector<std::shared_ptr<Waiter>> waiters_;  // loop thread only
};

}  // namespace mandate
