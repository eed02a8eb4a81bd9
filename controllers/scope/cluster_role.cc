#include "controllers/scope/cluster_role.h"

#include <vector>

#include "controllers/scope/generated_names.h"
#include "controllers/scope/ownership.h"
#include "manager/core/strings.h"

namespace mandate::scope {
namespace {

using operatorsv1alpha1::ScopeTemplate;

bool HasLabel(const ObjectMetaProto& object, std::string_view key, std::string_view value) {
  const auto found = object.labels().find(std::string(key));
  return found != object.labels().end() && found->second == value;
}

}  // namespace

rbacv1::ClusterRole DesiredClusterRole(const ScopeTemplate& owner, const RoleTemplate& role) {
  rbacv1::ClusterRole result;
  auto& meta = *result.mutable_metadata();
  meta.set_name(role.name);
  (*meta.mutable_labels())[std::string(kTemplateUidLabel)] = owner.metadata().uid();
  (*meta.mutable_labels())[std::string(kGenerateNameLabel)] =
      GenerateNameLabelValue(role.generate_name);
  SetControllerReference(owner.metadata(), KindOf<ScopeTemplate>::value, meta);
  for (const auto& rule : role.rules) *result.add_rules() = rule;
  return result;
}

std::string WhyForeign(const rbacv1::ClusterRole& actual, std::string_view template_uid) {
  const auto& meta = actual.metadata();
  const OwnerReferenceProto* controller = ControllerOf(meta);
  if (controller != nullptr && controller->uid() != template_uid) {
    return StrCat("its controller is ", ControllerText(meta));
  }
  if (!BelongsTo(meta, template_uid, kTemplateUidLabel)) {
    return "it has neither an owner reference nor the label of this ScopeTemplate";
  }
  if (IsClusterRoleNameOf(template_uid, meta.name())) return "";
  if (controller == nullptr) return "it has no owner reference to this ScopeTemplate";
  if (!HasLabel(meta, kTemplateUidLabel, template_uid) ||
      !HasLabel(meta, kGenerateNameLabel, GenerateNameLabelValue(meta.name()))) {
    return "it lacks the labels of this ScopeTemplate";
  }
  const std::string other = OtherManager(meta, kTemplateManager);
  if (!other.empty()) return StrCat("field manager \"", other, "\" has changed it");
  return "";
}

std::string Difference(const rbacv1::ClusterRole& desired, const rbacv1::ClusterRole& actual) {
  if (!SameRules({desired.rules().begin(), desired.rules().end()}, actual.rules())) return "rules";
  if (actual.has_aggregationrule()) return "aggregationRule";
  std::string label = LabelDifference(desired.metadata(), actual.metadata(), /*exactly=*/true);
  if (!label.empty()) return label;
  const OwnerReferenceProto& owner = *ControllerOf(desired.metadata());
  ObjectMetaProto owner_meta;
  owner_meta.set_name(owner.name());
  owner_meta.set_uid(owner.uid());
  if (!HasControllerReference(owner_meta, KindOf<ScopeTemplate>::value, actual.metadata())) {
    return "owner reference";
  }
  return "";
}

}  // namespace mandate::scope
