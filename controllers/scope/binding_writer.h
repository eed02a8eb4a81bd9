// Carries out the plan of one ScopeInstance.
#ifndef CONTROLLERS_SCOPE_BINDING_WRITER_H_
#define CONTROLLERS_SCOPE_BINDING_WRITER_H_

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "controllers/fix_limiter.h"
#include "controllers/portion.h"
#include "controllers/scope/binding.h"
#include "controllers/scope/instance_plan.h"
#include "controllers/scope/mandates.h"
#include "manager/client/client.h"
#include "manager/core/call_context.h"
#include "manager/core/clock.h"

namespace mandate::scope {

// Writes, one after the other, until the plan or the portion is at its end. One reconcile's; not
// thread-safe.
class BindingWriter {
 public:
  struct Parts {
    Client<kScopeInstance>& client;
    FixLimits& fixes;
    const Clock& clock;
    Portion& portion;  // all outlive the writer
  };

  BindingWriter(const CallContext& context, Parts parts);

  void CarryOut(const InstancePlan& plan);

  // After the writes.
  void Finish();

 private:
  // On condition of the binding's UID, and of its version too when `unchanged`. Whether it is gone.
  bool Remove(const Binding& binding, bool unchanged);
  void Create(const Binding& binding);
  // `or_remove`: a binding of which a subject is to be revoked, and that may not be written without
  // `bind`, is deleted, which takes no `bind`.
  void Fix(const BindingFix& fix, bool or_remove = true);
  // `observed` null: creates.
  absl::StatusOr<Binding> Ensure(const Binding& desired, const Binding* observed);
  template <class T>
  absl::StatusOr<T> EnsureObject(const T& desired, std::optional<T> observed);
  void Note(const Binding& desired, const absl::StatusOr<Binding>& written);
  // Whether the server has already answered that the role may not be bound.
  bool IsDenied(const Binding& binding);

  const CallContext& context_;
  const Parts parts_;
  Portion& portion_;
  // By the name of a role that may not be bound: how many bindings were not tried.
  std::map<std::string, size_t> denied_;
};

}  // namespace mandate::scope

#endif  // CONTROLLERS_SCOPE_BINDING_WRITER_H_
