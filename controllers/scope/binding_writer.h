// Carries out the plan of one ScopeInstance.
#ifndef CONTROLLERS_SCOPE_BINDING_WRITER_H_
#define CONTROLLERS_SCOPE_BINDING_WRITER_H_

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "controllers/fix_limiter.h"
#include "controllers/scope/binding.h"
#include "controllers/scope/instance_plan.h"
#include "controllers/scope/mandates.h"
#include "controllers/write_log.h"
#include "manager/client/client.h"
#include "manager/core/call_context.h"
#include "manager/core/clock.h"
#include "manager/object/kind.h"

namespace mandate::scope {

// One pass over the writes of a ScopeInstance, in portions: a binding whose write has failed is
// tried again in the next round, after all others had their turn.
struct WriteRound {
  std::string of;  // the versions of the instance and its template; others begin a new round
  absl::flat_hash_set<ObjectKey> failed;
  std::string first_failure;
};

// Writes, one after the other, until the plan or the budget is at its end. One reconcile's; not
// thread-safe.
class BindingWriter {
 public:
  struct Parts {
    Client<kScopeInstance>& client;
    FixLimiter& fixes;
    const Clock& clock;
    WriteRound& round;  // all outlive the writer
    // Writes that succeed, and tries of each of the plan's lists.
    size_t max_writes = 0;
    // How long each list is worked on; a server may take long to deny.
    absl::Duration max_time = absl::InfiniteDuration();
  };

  BindingWriter(const CallContext& context, Parts parts)
      : context_(context),
        parts_(parts),
        left_(parts.max_writes),
        failed_before_(parts.round.failed.size()) {}

  void CarryOut(const InstancePlan& plan);
  // Deletes the bindings, on condition of their UIDs, and of their versions too when `unchanged`.
  void RemoveAll(const std::vector<Binding>& bindings, bool unchanged = false);

  // After the writes.
  void Finish();
  const WriteLog& log() const { return log_; }
  // What to report: this portion's failures, or, at the end of a round of several, a summary.
  std::vector<std::string> failures() const;
  // Some writes of the plan are left for the next reconcile.
  bool unfinished() const { return unfinished_; }
  // Earlier portions of the round have failures.
  bool failed_before() const { return failed_before_ > 0; }
  // How long to wait before a binding that somebody else keeps changing is fixed again. Zero: there
  // is no such binding.
  absl::Duration wait() const { return wait_; }

 private:
  // Calls `write` with each one that has not failed in this round, within the budget, and `after`.
  template <class List, class Write, class After>
  void Each(const List& list, const Write& write, const After& after);
  void Remove(const Binding& binding, bool unchanged);
  void Create(const Binding& binding);
  void Fix(const BindingFix& fix);
  void Replace(const Binding& old, const Binding& wanted);
  // `observed` null: creates.
  absl::StatusOr<Binding> Ensure(const Binding& desired, const Binding* observed);
  template <class T>
  absl::StatusOr<T> EnsureObject(const T& desired, std::optional<T> observed);
  void Note(const Binding& desired, const absl::StatusOr<Binding>& written);
  // Whether the server has already answered that the role may not be bound.
  bool IsDenied(const Binding& binding);

  const CallContext& context_;
  const Parts parts_;
  WriteLog log_;
  size_t left_;
  size_t requests_ = 0;
  const size_t failed_before_;
  bool unfinished_ = false;
  absl::Duration wait_ = absl::ZeroDuration();
  // By the name of a role that may not be bound: how many bindings were not tried.
  std::map<std::string, size_t> denied_;
};

}  // namespace mandate::scope

#endif  // CONTROLLERS_SCOPE_BINDING_WRITER_H_
