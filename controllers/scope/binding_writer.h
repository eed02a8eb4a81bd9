// Writes the plan of one ScopeInstance.
#pragma once

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

// Sends the writes in sequence until the plan or the portion ends. It belongs to one reconcile. Not
// thread-safe.
class BindingWriter {
 public:
  struct Parts {
    Client<kScopeInstance>& client;
    FixLimiters& fixes;
    const Clock& clock;
    Portion& portion;  // all outlive the writer
  };

  BindingWriter(const CallContext& context, Parts parts);

  void CarryOut(const InstancePlan& plan);

  // After the writes.
  void Finish();

 private:
  // Deletes with the binding's UID as precondition, and with its version too if `unchanged`.
  // Whether the binding is gone.
  bool Remove(const Binding& binding, bool unchanged);
  void Create(const Binding& binding);
  // `or_remove`: if revoking a subject is denied for lack of `bind`, the binding is deleted, which
  // needs no `bind`.
  void Fix(const BindingFix& fix, bool or_remove = true);
  // A null `observed` means a creation.
  absl::StatusOr<Binding> Ensure(const Binding& desired, const Binding* observed);
  template <class T>
  absl::StatusOr<T> EnsureObject(const T& desired, std::optional<T> observed);
  void Note(const Binding& desired, const absl::StatusOr<Binding>& written);
  // Whether the server has already denied a binding of the role.
  bool IsDenied(const Binding& binding);

  const CallContext& context_;
  const Parts parts_;
  Portion& portion_;
  // The number of skipped bindings, by the name of the role whose bindings are denied.
  std::map<std::string, size_t> denied_;
};

}  // namespace mandate::scope
