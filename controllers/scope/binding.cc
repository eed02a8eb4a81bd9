#include "controllers/scope/binding.h"

#include <algorithm>
#include <utility>

#include "controllers/scope/generated_names.h"
#include "controllers/scope/ownership.h"
#include "manager/core/strings.h"

namespace mandate::scope {

using operatorsv1alpha1::ScopeInstance;

namespace {
constexpr KindInfo kOwner = KindOf<ScopeInstance>::value;
}  // namespace

std::string Binding::ToString() const {
  return StrCat(in_cluster() ? "ClusterRoleBinding " : "RoleBinding ", key.ToString());
}

Binding FromRoleBinding(rbacv1::RoleBinding object) {
  ObjectKey key{object.metadata().namespace_(), object.metadata().name()};
  return {std::move(key), std::move(object)};
}

Binding FromClusterRoleBinding(const rbacv1::ClusterRoleBinding& object) {
  Binding result{{"", object.metadata().name()}, {}};
  *result.object.mutable_metadata() = object.metadata();
  *result.object.mutable_subjects() = object.subjects();
  *result.object.mutable_roleref() = object.roleref();
  return result;
}

rbacv1::ClusterRoleBinding ToClusterRoleBinding(const Binding& binding) {
  rbacv1::ClusterRoleBinding result;
  *result.mutable_metadata() = binding.object.metadata();
  *result.mutable_subjects() = binding.object.subjects();
  *result.mutable_roleref() = binding.object.roleref();
  return result;
}

Binding DesiredBinding(const ScopeInstance& owner, const RoleTemplate& role, std::string_view ns) {
  Binding result;
  result.key = {std::string(ns), BindingName(owner.metadata().uid(), role.generate_name, ns)};
  auto& meta = *result.object.mutable_metadata();
  meta.set_name(result.key.name);
  if (!ns.empty()) meta.set_namespace_(result.key.ns);
  (*meta.mutable_labels())[std::string(kInstanceUidLabel)] = owner.metadata().uid();
  (*meta.mutable_labels())[std::string(kGenerateNameLabel)] =
      GenerateNameLabelValue(role.generate_name);
  SetControllerReference(owner.metadata(), KindOf<ScopeInstance>::value, meta);
  for (const auto& subject : role.subjects) *result.object.add_subjects() = subject;
  auto& role_ref = *result.object.mutable_roleref();
  role_ref.set_apigroup("rbac.authorization.k8s.io");
  role_ref.set_kind("ClusterRole");
  role_ref.set_name(role.name);
  return result;
}

bool BelongsToInstance(const Binding& binding, const ScopeInstance& owner) {
  return BelongsTo(binding.object.metadata(), owner.metadata().uid(), kInstanceUidLabel);
}

bool BelongsToFormer(const Binding& binding, std::string_view name, std::string_view uid) {
  const auto& owners = binding.object.metadata().ownerreferences();
  return std::any_of(owners.begin(), owners.end(), [&](const auto& owner) {
    return owner.controller() && owner.kind() == kOwner.kind && owner.name() == name &&
           std::string_view(owner.apiversion()).starts_with(StrCat(kOwner.group, "/")) &&
           owner.uid() != uid;
  });
}

bool SameRoleRef(const Binding& a, const Binding& b) {
  const auto& x = a.object.roleref();
  const auto& y = b.object.roleref();
  return x.apigroup() == y.apigroup() && x.kind() == y.kind() && x.name() == y.name();
}

bool IsAsDesired(const ScopeInstance& owner, const Binding& desired, const Binding& actual) {
  const auto& wanted = desired.object;
  const auto& labels = actual.object.metadata().labels();
  const bool labelled = std::all_of(wanted.metadata().labels().begin(),
                                    wanted.metadata().labels().end(), [&](const auto& label) {
                                      const auto found = labels.find(label.first);
                                      return found != labels.end() && found->second == label.second;
                                    });
  return labelled && SameRoleRef(desired, actual) &&
         SameSubjects({wanted.subjects().begin(), wanted.subjects().end()},
                      actual.object.subjects()) &&
         HasControllerReference(owner.metadata(), KindOf<ScopeInstance>::value,
                                actual.object.metadata());
}

}  // namespace mandate::scope
