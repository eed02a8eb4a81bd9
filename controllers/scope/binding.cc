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

Binding ToBinding(rbacv1::RoleBinding object) {
  ObjectKey key{object.metadata().namespace_(), object.metadata().name()};
  return {std::move(key), std::move(object)};
}

Binding ToBinding(const rbacv1::ClusterRoleBinding& object) {
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

Binding NewBinding::Make() const {
  Binding result{key, *common};
  auto& meta = *result.object.mutable_metadata();
  meta.set_name(key.name);
  if (!key.ns.empty()) meta.set_namespace_(key.ns);
  return result;
}

ObjectKey DesiredKey(const ScopeInstance& owner, const RoleTemplate& role, std::string_view ns) {
  return {std::string(ns), BindingName(owner.metadata().uid(), role.generate_name, ns)};
}

std::shared_ptr<const rbacv1::RoleBinding> DesiredEverywhere(const ScopeInstance& owner,
                                                             const RoleTemplate& role) {
  auto result = std::make_shared<rbacv1::RoleBinding>();
  auto& meta = *result->mutable_metadata();
  (*meta.mutable_labels())[std::string(kInstanceUidLabel)] = owner.metadata().uid();
  (*meta.mutable_labels())[std::string(kGenerateNameLabel)] =
      GenerateNameLabelValue(role.generate_name);
  SetControllerReference(owner.metadata(), KindOf<ScopeInstance>::value, meta);
  *result->mutable_subjects() = *role.subjects;
  auto& role_ref = *result->mutable_roleref();
  role_ref.set_apigroup("rbac.authorization.k8s.io");
  role_ref.set_kind("ClusterRole");
  role_ref.set_name(role.name);
  return result;
}

Binding DesiredBinding(const ScopeInstance& owner, const RoleTemplate& role, std::string_view ns) {
  return NewBinding{DesiredKey(owner, role, ns), DesiredEverywhere(owner, role)}.Make();
}

bool BelongsToInstance(const Binding& binding, std::string_view instance_uid) {
  return BelongsTo(binding.object.metadata(), kOwner, instance_uid, kInstanceUidLabel) &&
         HasNameOf(binding, instance_uid);
}

bool BelongsToSomeInstance(const Binding& binding) {
  const auto& meta = binding.object.metadata();
  if (const OwnerReferenceProto* owner = ControllerOf(meta); owner != nullptr) {
    return IsOfKind(*owner, kOwner) && HasNameOf(binding, owner->uid());
  }
  const auto label = meta.labels().find(std::string(kInstanceUidLabel));
  return label != meta.labels().end() && HasNameOf(binding, label->second);
}

bool BelongsToFormer(const Binding& binding, std::string_view name, std::string_view uid) {
  const OwnerReferenceProto* owner = ControllerOf(binding.object.metadata());
  return owner != nullptr && IsOfKind(*owner, kOwner) && owner->name() == name &&
         owner->uid() != uid && HasNameOf(binding, owner->uid());
}

bool HasNameOf(const Binding& binding, std::string_view instance_uid) {
  return IsBindingNameOf(instance_uid, binding.key.name, binding.key.ns);
}

bool Claims(const Binding& binding, std::string_view instance_uid) {
  const auto& meta = binding.object.metadata();
  const auto label = meta.labels().find(std::string(kInstanceUidLabel));
  if (label != meta.labels().end() && label->second == instance_uid) return true;
  const OwnerReferenceProto* owner = ControllerOf(meta);
  return owner != nullptr && owner->uid() == instance_uid;
}

bool SameRoleRef(const Binding& a, const Binding& b) {
  const auto& x = a.object.roleref();
  const auto& y = b.object.roleref();
  return x.apigroup() == y.apigroup() && x.kind() == y.kind() && x.name() == y.name();
}

std::string Difference(const Binding& desired, const Binding& actual) {
  if (!SameRoleRef(desired, actual)) return "roleRef";
  const auto& wanted = desired.object;
  if (!SameSubjects(wanted.subjects(), actual.object.subjects())) return "subjects";
  std::string label =
      LabelDifference(wanted.metadata(), actual.object.metadata(), /*exactly=*/false);
  if (!label.empty()) return label;
  const OwnerReferenceProto* owner = ControllerOf(wanted.metadata());
  if (owner == nullptr) return "";
  ObjectMetaProto owner_meta;
  owner_meta.set_name(owner->name());
  owner_meta.set_uid(owner->uid());
  const auto& meta = actual.object.metadata();
  if (!HasControllerReference(owner_meta, kOwner, meta)) return "owner reference";
  return OtherOwners(meta, owner->uid()).empty() ? "" : "other owner references";
}

bool HasMoreSubjects(const Binding& desired, const Binding& actual) {
  const SubjectSet wanted(desired.object.subjects());
  return !std::ranges::all_of(actual.object.subjects(),
                              [&](const auto& s) { return wanted.Contains(s); });
}

Binding WithoutNewSubjects(Binding desired, const Binding& actual) {
  const SubjectSet known(actual.object.subjects());
  auto& subjects = *desired.object.mutable_subjects();
  subjects.erase(std::remove_if(subjects.begin(), subjects.end(),
                                [&](const auto& s) { return !known.Contains(s); }),
                 subjects.end());
  return desired;
}

Binding WithoutSubjects(const Binding& actual) {
  Binding result{actual.key, {}};
  auto& meta = *result.object.mutable_metadata();
  meta.set_name(actual.key.name);
  if (!actual.in_cluster()) meta.set_namespace_(actual.key.ns);
  *meta.mutable_labels() = actual.object.metadata().labels();
  const OwnerReferenceProto* controller = ControllerOf(actual.object.metadata());
  if (controller != nullptr) *meta.add_ownerreferences() = *controller;
  *result.object.mutable_roleref() = actual.object.roleref();
  return result;
}

std::string GrantText(const Binding& binding) {
  const int subjects = binding.object.subjects_size();
  return StrCat(binding.ToString(), " grants ", binding.object.roleref().kind(), " \"",
                binding.object.roleref().name(), "\" to ", subjects,
                subjects == 1 ? " subject" : " subjects");
}

}  // namespace mandate::scope
