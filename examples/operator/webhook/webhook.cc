#include "webhook/webhook.h"

#include <memory>
#include <vector>

#include "manager/core/status_macros.h"
#include "manager/core/strings.h"

namespace example {

using v1alpha1::Greeting;

absl::Status GreetingValidator::ValidateCreate(mandate::AdmissionCall& call,
                                               const Greeting& greeting) {
  const auto& [ns, name] = mandate::KeyOf(greeting);
  ASSIGN_OR_RETURN(const std::vector<Greeting> others, cache_.List<Greeting>(call.context(), ns));
  for (const Greeting& other : others) {
    if (other.metadata().name() == name || other.spec().name() != greeting.spec().name()) continue;
    return absl::InvalidArgumentError(mandate::StrCat("spec.name: ", other.metadata().name(),
                                                      " has the name ", greeting.spec().name(),
                                                      " already; choose another"));
  }
  return absl::OkStatus();
}

absl::Status GreetingValidator::ValidateUpdate(mandate::AdmissionCall& call, const Greeting& old,
                                               const Greeting& greeting) {
  // An update of the metadata, such as of a finalizer, must stay possible.
  if (old.spec().name() == greeting.spec().name()) return absl::OkStatus();
  return ValidateCreate(call, greeting);
}

absl::StatusOr<mandate::Webhooks> MakeWebhooks(const mandate::Component& component) {
  mandate::Webhooks webhooks;
  webhooks.demands.push_back(
      component.cache().Demand({mandate::KindOf<Greeting>::value, "", ""}, nullptr));
  webhooks.hooks.push_back(
      mandate::ValidatingWebhook<Greeting>(std::make_shared<GreetingValidator>(component.cache())));
  return webhooks;
}

}  // namespace example
