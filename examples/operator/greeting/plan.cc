#include "greeting/plan.h"

#include <utility>

#include "manager/object/owner.h"

namespace example {
namespace {

using mandate::corev1::ConfigMap;

ConfigMap Desired(const v1alpha1::Greeting& greeting) {
  ConfigMap desired;
  desired.mutable_metadata()->set_name(greeting.metadata().name());
  desired.mutable_metadata()->set_namespace_(greeting.metadata().namespace_());
  mandate::SetControllerReference(greeting, &desired);
  (*desired.mutable_data())[kMessageKey] = "Hello, " + greeting.spec().name() + "!";
  return desired;
}

}  // namespace

Plan MakePlan(const v1alpha1::Greeting& greeting, const std::optional<ConfigMap>& actual) {
  ConfigMap desired = Desired(greeting);
  if (!actual.has_value()) return {std::move(desired), ""};
  if (!mandate::IsControlledBy(actual->metadata(), greeting.metadata().uid())) {
    return {std::nullopt,
            "ConfigMap \"" + actual->metadata().name() +
                "\" exists and does not belong to this Greeting; choose another name"};
  }
  return {std::move(desired), ""};
}

}  // namespace example
