#include "controllers/scope/indexes.h"

#include "controllers/scope/binding.h"
#include "controllers/scope/generated_names.h"
#include "controllers/scope/ownership.h"
#include "controllers/scope/target.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/object/kinds/rbac_v1.h"

namespace mandate::scope {
namespace {

using operatorsv1alpha1::ScopeInstance;
using operatorsv1alpha1::ScopeTemplate;
using rbacv1::ClusterRole;
using rbacv1::ClusterRoleBinding;
using rbacv1::RoleBinding;
using Values = std::vector<std::string>;

Values TemplateOf(const ScopeInstance& instance) { return {instance.spec().scopetemplatename()}; }

Values RoleNamesOf(const ScopeTemplate& scope_template) {
  Values names;
  for (const auto& role : scope_template.spec().clusterroles()) {
    names.push_back(ClusterRoleName(scope_template.metadata().uid(), role.generatename()));
  }
  return names;
}

Values NamespacesOf(const ScopeInstance& instance) {
  return {instance.spec().namespaces().begin(), instance.spec().namespaces().end()};
}

Values SelectorOf(const ScopeInstance& instance) {
  const auto selector = NamespaceSelector(instance);
  // An invalid selector matches nothing; its instance is reconciled after an edit.
  if (!selector.ok() || !selector->has_value()) return {};
  return {SelectorIndexValue(**selector)};
}

Values UidOf(const ScopeInstance& instance) { return {instance.metadata().uid()}; }

Values NamePartOf(const ScopeInstance& instance) {
  return {InstancePart(instance.metadata().uid())};
}

Values LabelsOf(const corev1::Namespace& ns) {
  Values labels;
  for (const auto& [key, value] : ns.metadata().labels()) labels.push_back(StrCat(key, "=", value));
  return labels;
}

template <class T>
Values RoleRefOf(const T& binding) {
  if (binding.roleref().kind() != "ClusterRole") return {};
  return {binding.roleref().name()};
}

// Reads only the header, which is enough for most bindings.
Values StrayNameOf(const RawObject& binding) {
  const std::string_view part = InstancePartOf(binding.name());
  if (part.empty()) return {};
  const ObjectHeader header = binding.Header();
  const OwnerReference* owner = header.Controller();
  if (owner != nullptr && IsBindingNameOf(owner->uid, binding.name(), binding.ns())) return {};
  return {std::string(part)};
}

template <class T>
Values InstanceNameOf(const T& binding) {
  const OwnerReferenceProto* owner = ControllerOf(binding.metadata());
  if (owner == nullptr || owner->kind() != KindOf<ScopeInstance>::value.kind) return {};
  return {owner->name()};
}

template <class T>
absl::Status IndexBindings(CacheView& cache) {
  RETURN_IF_ERROR(cache.IndexField(KindOf<T>::value, kByController, IndexByControllerUid()));
  RETURN_IF_ERROR(cache.IndexField(KindOf<T>::value, kByUidLabel,
                                   IndexByLabel(std::string(kInstanceUidLabel))));
  RETURN_IF_ERROR(cache.IndexField<T>(kByInstanceName, InstanceNameOf<T>));
  RETURN_IF_ERROR(cache.IndexField<T>(kByRoleRef, RoleRefOf<T>));
  return cache.IndexField(KindOf<T>::value, kByStrayName, StrayNameOf);
}

}  // namespace

absl::Status DeclareTemplateIndex(CacheView& cache) {
  return cache.IndexField<ScopeInstance>(kByTemplate, TemplateOf);
}

absl::Status DeclareTemplateIndexes(CacheView& cache) {
  RETURN_IF_ERROR(DeclareTemplateIndex(cache));
  RETURN_IF_ERROR(cache.IndexField<ScopeTemplate>(kByRoleName, RoleNamesOf));
  RETURN_IF_ERROR(
      cache.IndexField(KindOf<ClusterRole>::value, kByController, IndexByControllerUid()));
  RETURN_IF_ERROR(cache.IndexField(KindOf<ClusterRole>::value, kByUidLabel,
                                   IndexByLabel(std::string(kTemplateUidLabel))));
  RETURN_IF_ERROR(cache.IndexField<RoleBinding>(kByRoleRef, RoleRefOf<RoleBinding>));
  return cache.IndexField<ClusterRoleBinding>(kByRoleRef, RoleRefOf<ClusterRoleBinding>);
}

absl::Status DeclareInstanceIndexes(CacheView& cache) {
  RETURN_IF_ERROR(DeclareTemplateIndex(cache));
  RETURN_IF_ERROR(cache.IndexField<ScopeInstance>(kByNamespace, NamespacesOf));
  RETURN_IF_ERROR(cache.IndexField<ScopeInstance>(kBySelector, SelectorOf));
  RETURN_IF_ERROR(cache.IndexField<ScopeInstance>(kByUid, UidOf));
  RETURN_IF_ERROR(cache.IndexField<ScopeInstance>(kByNamePart, NamePartOf));
  RETURN_IF_ERROR(cache.IndexField<ScopeTemplate>(kByRoleName, RoleNamesOf));
  RETURN_IF_ERROR(cache.IndexField<corev1::Namespace>(kByLabel, LabelsOf));
  RETURN_IF_ERROR(IndexBindings<RoleBinding>(cache));
  return IndexBindings<ClusterRoleBinding>(cache);
}

std::string SelectorIndexValue(const LabelSelector& selector) {
  using Operator = LabelRequirement::Operator;
  for (const LabelRequirement& r : selector.requirements()) {
    const bool equals = r.op == Operator::kEquals || r.op == Operator::kIn;
    if (equals && r.values.size() == 1) return StrCat(r.key, "=", r.values[0]);
  }
  return std::string(kAnyLabel);
}

}  // namespace mandate::scope
