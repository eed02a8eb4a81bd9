// The component greeting: keeps a ConfigMap for each Greeting.
//
// +mandate:component:name=greeting
// +kubebuilder:rbac:groups=example.com,resources=greetings,verbs=list;watch
// +kubebuilder:rbac:groups=example.com,resources=greetings/status,verbs=patch
// +kubebuilder:rbac:groups=example.com,resources=greetings/finalizers,verbs=update
// +kubebuilder:rbac:groups=core,resources=configmaps,verbs=list;watch;create;patch
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "greeting/mandates.h"
#include "manager/client/client.h"
#include "manager/component.h"
#include "manager/controller/controller.h"
#include "manager/controller/reconciler.h"

namespace example {

// Reads, plans, writes and reports. Thread-safe.
class GreetingReconciler : public mandate::Reconciler {
 public:
  // `component` outlives this.
  GreetingReconciler(const mandate::Component& component,
                     mandate::Client<mandate::kGreeting> client);

  absl::StatusOr<mandate::Result> Reconcile(const mandate::CallContext& context,
                                            const mandate::Request& request) override;

 private:
  const mandate::Component& component_;
  mandate::Client<mandate::kGreeting> client_;
};

absl::StatusOr<std::unique_ptr<mandate::Controller>> MakeController(
    const mandate::Component& component);

}  // namespace example
