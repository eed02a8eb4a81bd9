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

// The bindings whose write has failed, and what the API server answered to the first of them.
struct FailedWrites {
  absl::flat_hash_set<ObjectKey> keys;
  std::string first;
};

// One pass over the writes of a ScopeInstance, in portions. A grant that has failed is tried again
// in the next round, after all other grants. A revocation does not wait for grants: when a portion
// has tried all revocations, the next portion tries the failed ones again.
struct WriteRound {
  std::string of;  // the versions of the instance and its template; others begin a new round
  bool begun = false;
  FailedWrites grants;
  FailedWrites revocations;
  bool revocations_tried = false;

  size_t failed() const { return grants.keys.size() + revocations.keys.size(); }
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

  BindingWriter(const CallContext& context, Parts parts);

  void CarryOut(const InstancePlan& plan);
  // Deletes the bindings, on condition that they have not changed since they were read.
  void RemoveAll(const std::vector<Binding>& bindings);

  // After the writes.
  void Finish();
  const WriteLog& log() const { return log_; }
  // What to report: this portion's failures, or, at the end of a round of several, a summary.
  std::vector<std::string> failures() const;
  // Some writes of the plan are left for the next reconcile.
  bool unfinished() const { return unfinished_; }
  // How many bindings a round of several portions could not write; 0 in a round of one, whose
  // failures are in the log.
  size_t failed_in_round() const { return several_ ? parts_.round.failed() : 0; }
  // How long to wait before a binding that somebody else keeps changing is fixed again. Zero: there
  // is no such binding.
  absl::Duration wait() const { return wait_; }

 private:
  // Calls `write` and `after` for each one that is not in `failed`, until the budget is at its end.
  // Adds those whose write fails to `failed`. Returns whether all were tried.
  template <class List, class Write, class After>
  bool Each(const List& list, FailedWrites& failed, const Write& write, const After& after);
  bool RemoveEach(const std::vector<Binding>& bindings, bool unchanged);
  // On condition of the binding's UID, and of its version too when `unchanged`.
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
  const bool several_;
  bool unfinished_ = false;
  absl::Duration wait_ = absl::ZeroDuration();
  // By the name of a role that may not be bound: how many bindings were not tried.
  std::map<std::string, size_t> denied_;
};

}  // namespace mandate::scope

#endif  // CONTROLLERS_SCOPE_BINDING_WRITER_H_
