// The component greeting-webhook: validates each Greeting.
//
// +mandate:component:name=greeting-webhook,value=webhooks.enabled,events=none
// +kubebuilder:rbac:groups=example.com,resources=greetings,verbs=list;watch
// +kubebuilder:webhook:path=/validate-example-com-v1alpha1-greeting,mutating=false,failurePolicy=fail,sideEffects=None,groups=example.com,resources=greetings,verbs=create;update,versions=v1alpha1,name=greetings.example.com,admissionReviewVersions=v1
#pragma once

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "greeting/kind.h"
#include "manager/admission/typed.h"
#include "manager/cache/cache_view.h"
#include "manager/component.h"
#include "webhook/mandates.h"

namespace example {

// A namespace greets each person once. Two that are created at the same moment may both pass.
// Thread-safe.
class GreetingValidator : public mandate::Validator<v1alpha1::Greeting> {
 public:
  explicit GreetingValidator(const mandate::CacheView& cache) : cache_(cache) {}  // outlives this

  absl::Status ValidateCreate(mandate::AdmissionCall& call,
                              const v1alpha1::Greeting& greeting) override;
  absl::Status ValidateUpdate(mandate::AdmissionCall& call, const v1alpha1::Greeting& old,
                              const v1alpha1::Greeting& greeting) override;

 private:
  const mandate::CacheView& cache_;
};

absl::StatusOr<mandate::Webhooks> MakeWebhooks(const mandate::Component& component);

}  // namespace example
