// Carries out the plan of one ScopeInstance.
#ifndef CONTROLLERS_SCOPE_BINDING_WRITER_H_
#define CONTROLLERS_SCOPE_BINDING_WRITER_H_

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>

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

namespace mandate::scope {

// Writes, one after the other, until the plan or the budget is at its end. One reconcile's; not
// thread-safe.
class BindingWriter {
 public:
  struct Parts {
    Client<kScopeInstance>& client;
    FixLimiter& fixes;  // both outlive the writer
    absl::Time now;
    // Writes that the server may accept; failures do not count, so that the rest gets its turn.
    size_t max_writes = 0;
  };

  BindingWriter(const CallContext& context, Parts parts)
      : context_(context), parts_(parts), left_(parts.max_writes) {}

  void CarryOut(const InstancePlan& plan);
  // Deletes the binding, on condition of its UID, and of its version too when `unchanged`.
  void Remove(const Binding& binding, bool unchanged = false);

  // After the writes.
  void Finish();
  const WriteLog& log() const { return log_; }
  // Some writes of the plan are left for the next reconcile.
  bool unfinished() const { return unfinished_; }
  // How long to wait before a binding that somebody else keeps changing is fixed again. Zero: there
  // is no such binding.
  absl::Duration wait() const { return wait_; }

 private:
  bool HasBudget();
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
  bool unfinished_ = false;
  absl::Duration wait_ = absl::ZeroDuration();
  // By the name of a role that may not be bound: how many bindings were not tried.
  std::map<std::string, size_t> denied_;
};

}  // namespace mandate::scope

#endif  // CONTROLLERS_SCOPE_BINDING_WRITER_H_
