// The component scope-webhook: no user grants through ScopeTemplates and ScopeInstances what they
// could not grant themselves.
//
// +mandate:component:name=scope-webhook,value=webhooks.enabled,events=none
// +kubebuilder:rbac:groups=operators.coreos.com,resources=scopeinstances;scopetemplates,verbs=list;watch
// +kubebuilder:rbac:groups=authorization.k8s.io,resources=subjectaccessreviews,verbs=create
// +kubebuilder:webhook:path=/validate-operators-coreos-com-v1alpha1-scopetemplate,mutating=false,failurePolicy=fail,sideEffects=None,groups=operators.coreos.com,resources=scopetemplates,verbs=create;update,versions=v1alpha1,name=scopetemplates.operators.coreos.com,admissionReviewVersions=v1,timeoutSeconds=10
// +kubebuilder:webhook:path=/validate-operators-coreos-com-v1alpha1-scopeinstance,mutating=false,failurePolicy=fail,sideEffects=None,groups=operators.coreos.com,resources=scopeinstances,verbs=create;update,versions=v1alpha1,name=scopeinstances.operators.coreos.com,admissionReviewVersions=v1,timeoutSeconds=10
#pragma once

#include "absl/status/statusor.h"
#include "manager/component.h"
#include "webhooks/scope/mandates.h"

namespace mandate::scope {

// A validator of ScopeTemplates and one of ScopeInstances, for creations and updates. Deletions are
// always allowed: they only revoke.
absl::StatusOr<Webhooks> MakeScopeWebhooks(const Component& component);

}  // namespace mandate::scope
