// A reconciler that calls a function of the test.
#ifndef MANAGER_CONTROLLER_TESTING_FUNCTION_RECONCILER_H_
#define MANAGER_CONTROLLER_TESTING_FUNCTION_RECONCILER_H_

#include <functional>
#include <utility>

#include "absl/status/statusor.h"
#include "manager/controller/reconciler.h"

namespace mandate {

// As thread-safe as the function.
class FunctionReconciler : public Reconciler {
 public:
  using Function = std::function<absl::StatusOr<Result>(const CallContext&, const Request&)>;
  explicit FunctionReconciler(Function function) : function_(std::move(function)) {}
  absl::StatusOr<Result> Reconcile(const CallContext& context, const Request& request) override {
    return function_(context, request);
  }

 private:
  const Function function_;
};

}  // namespace mandate

#endif  // MANAGER_CONTROLLER_TESTING_FUNCTION_RECONCILER_H_
