// The component greeter: logs a line for each ConfigMap.
//
// +mandate:component:name=greeter
// +kubebuilder:rbac:groups=core,resources=configmaps,verbs=list;watch
#include "greeter.h"

#include "manager/controller/controller_builder.h"
#include "manager/object/kinds/core_v1.h"
#include "mandates.h"

namespace {

class Greeter : public mandate::Reconciler {
 public:
  absl::StatusOr<mandate::Result> Reconcile(const mandate::CallContext& context,
                                            const mandate::Request& request) override {
    context.log().Info("Hello", {{"name", request.key.name}});
    return mandate::Result{};
  }
};

}  // namespace

absl::StatusOr<std::unique_ptr<mandate::Controller>> MakeGreeter(
    const mandate::Component& component) {
  return mandate::ControllerBuilder<mandate::kGreeter>(component.controller_context)
      .Named("greeter")
      .For<mandate::corev1::ConfigMap>()
      .Complete(std::make_unique<Greeter>());
}
