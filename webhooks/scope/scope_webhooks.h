// The component scope-webhook: nobody grants through ScopeTemplates and ScopeInstances what they
// could not grant themselves.
//
// +mandate:component:name=scope-webhook,value=webhooks.enabled,events=none
// +kubebuilder:rbac:groups=operators.coreos.com,resources=scopeinstances;scopetemplates,verbs=list;watch
// +kubebuilder:rbac:groups=rbac.authorization.k8s.io,resources=clusterroles;rolebindings;clusterrolebindings,verbs=list;watch
// +kubebuilder:rbac:groups=authorization.k8s.io,resources=subjectaccessreviews,verbs=create
// +kubebuilder:webhook:path=/validate-operators-coreos-com-v1alpha1-scopetemplate,mutating=false,failurePolicy=fail,sideEffects=None,groups=operators.coreos.com,resources=scopetemplates,verbs=create;update,versions=v1alpha1,name=scopetemplates.operators.coreos.com,admissionReviewVersions=v1,timeoutSeconds=10
// +kubebuilder:webhook:path=/validate-operators-coreos-com-v1alpha1-scopeinstance,mutating=false,failurePolicy=fail,sideEffects=None,groups=operators.coreos.com,resources=scopeinstances,verbs=create;update,versions=v1alpha1,name=scopeinstances.operators.coreos.com,admissionReviewVersions=v1,timeoutSeconds=10
#ifndef WEBHOOKS_SCOPE_SCOPE_WEBHOOKS_H_
#define WEBHOOKS_SCOPE_SCOPE_WEBHOOKS_H_

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "controllers/scope/kinds.h"
#include "manager/admission/typed.h"
#include "manager/component.h"
#include "webhooks/scope/grants.h"
#include "webhooks/scope/mandates.h"
#include "webhooks/scope/verdict.h"

namespace mandate::scope {

// Asks about the user of the call.
using AskAboutUser = std::function<absl::StatusOr<std::vector<AccessAnswer>>(
    AdmissionCall& call, std::vector<AccessQuestion> questions)>;

// What both validators use. The cache needs the indexes and demands of MakeScopeWebhooks().
struct ScopeWebhookOptions {
  const CacheView& cache;  // outlives the validators
  std::string ns;          // the manager's namespace
  AskAboutUser ask;
  GrantOptions grants = {};
};

// Thread-safe. Deletions are always allowed: they only revoke.
class TemplateValidator : public Validator<operatorsv1alpha1::ScopeTemplate> {
 public:
  explicit TemplateValidator(ScopeWebhookOptions options) : options_(std::move(options)) {}
  absl::Status ValidateCreate(AdmissionCall& call,
                              const operatorsv1alpha1::ScopeTemplate& object) override;
  absl::Status ValidateUpdate(AdmissionCall& call,
                              const operatorsv1alpha1::ScopeTemplate& old_object,
                              const operatorsv1alpha1::ScopeTemplate& object) override;

 private:
  absl::Status Check(AdmissionCall& call, const operatorsv1alpha1::ScopeTemplate* old,
                     const operatorsv1alpha1::ScopeTemplate& now);

  const ScopeWebhookOptions options_;
};

// Thread-safe.
class InstanceValidator : public Validator<operatorsv1alpha1::ScopeInstance> {
 public:
  explicit InstanceValidator(ScopeWebhookOptions options) : options_(std::move(options)) {}
  absl::Status ValidateCreate(AdmissionCall& call,
                              const operatorsv1alpha1::ScopeInstance& object) override;
  absl::Status ValidateUpdate(AdmissionCall& call,
                              const operatorsv1alpha1::ScopeInstance& old_object,
                              const operatorsv1alpha1::ScopeInstance& object) override;

 private:
  absl::Status Check(AdmissionCall& call, const operatorsv1alpha1::ScopeInstance* old,
                     const operatorsv1alpha1::ScopeInstance& now);

  const ScopeWebhookOptions options_;
};

// The webhooks of the component.
absl::StatusOr<Webhooks> MakeScopeWebhooks(const Component& component);

}  // namespace mandate::scope

#endif  // WEBHOOKS_SCOPE_SCOPE_WEBHOOKS_H_
