// A reconciler that calls a function of the test.
#pragma once

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
