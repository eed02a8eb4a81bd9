#include "controllers/scope/cluster_role.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "controllers/scope/generated_names.h"
#include "controllers/scope/ownership.h"
#include "manager/core/strings.h"

namespace mandate::scope {
namespace {

using operatorsv1alpha1::ScopeTemplate;

// The maximum number of rules that are all compared with each other. With more, a rule is compared
// only with the one at its position and with equal ones.
constexpr int64_t kMaxPairs = 10'000;

using Texts = google::protobuf::RepeatedPtrField<std::string>;

// In resourceNames "*" is an ordinary name; in the other fields of a rule it means everything.
enum class Asterisk { kIsText, kIsAll };

// A set of the values of one field of a rule.
class KnownTexts {
 public:
  KnownTexts(const Texts& texts, Asterisk asterisk)
      : texts_(texts.begin(), texts.end()),
        all_(asterisk == Asterisk::kIsAll && texts_.contains("*")) {}

  bool Contains(std::string_view text) const { return all_ || texts_.contains(text); }

 private:
  const std::set<std::string_view> texts_;
  const bool all_;
};

bool IsWithin(const Texts& texts, const Texts& all, Asterisk asterisk = Asterisk::kIsAll) {
  const KnownTexts known(all, asterisk);
  return std::ranges::all_of(texts, [&](const std::string& text) { return known.Contains(text); });
}

bool IsWithin(const rbacv1::PolicyRule& rule, const rbacv1::PolicyRule& other) {
  const bool of_any_name = other.resourcenames().empty();
  const bool names_are_within =
      !rule.resourcenames().empty() &&
      IsWithin(rule.resourcenames(), other.resourcenames(), Asterisk::kIsText);
  return (of_any_name || names_are_within) && IsWithin(rule.verbs(), other.verbs()) &&
         IsWithin(rule.apigroups(), other.apigroups()) &&
         IsWithin(rule.resources(), other.resources()) &&
         IsWithin(rule.nonresourceurls(), other.nonresourceurls());
}

Texts Common(const Texts& texts, const Texts& others, Asterisk asterisk = Asterisk::kIsAll) {
  if (IsWithin(others, texts, asterisk)) return others;
  const KnownTexts known(others, asterisk);
  Texts common;
  for (const std::string& text : texts) {
    if (known.Contains(text)) *common.Add() = text;
  }
  return common;
}

// The permissions that both rules grant; nullopt if there are none.
std::optional<rbacv1::PolicyRule> Common(const rbacv1::PolicyRule& rule,
                                         const rbacv1::PolicyRule& other) {
  rbacv1::PolicyRule common;
  *common.mutable_verbs() = Common(rule.verbs(), other.verbs());
  *common.mutable_apigroups() = Common(rule.apigroups(), other.apigroups());
  *common.mutable_resources() = Common(rule.resources(), other.resources());
  *common.mutable_nonresourceurls() = Common(rule.nonresourceurls(), other.nonresourceurls());
  if (rule.resourcenames().empty() || other.resourcenames().empty()) {
    *common.mutable_resourcenames() =
        rule.resourcenames().empty() ? other.resourcenames() : rule.resourcenames();
  } else {
    *common.mutable_resourcenames() =
        Common(rule.resourcenames(), other.resourcenames(), Asterisk::kIsText);
    // A rule without names applies to all names.
    if (common.resourcenames().empty()) return std::nullopt;
  }
  const bool of_resources = !common.apigroups().empty() && !common.resources().empty();
  if (common.verbs().empty() || (!of_resources && common.nonresourceurls().empty())) {
    return std::nullopt;
  }
  return common;
}

using Rules = google::protobuf::RepeatedPtrField<rbacv1::PolicyRule>;

std::set<std::string> BytesOf(const Rules& rules) {
  std::set<std::string> bytes;
  for (const auto& rule : rules) bytes.insert(rule.SerializeAsString());
  return bytes;
}

// Selects the pairs of rules of two lists to compare.
class Pairs {
 public:
  Pairs(const Rules& a, const Rules& b)
      : each_with_each_(int64_t{a.size()} * b.size() <= kMaxPairs) {}

  // Whether `is` returns true for one of the rules that are compared with the rule at position `i`
  // of the other list. `size` is the number of rules. The rule at the same position is tried first,
  // because it usually matches.
  template <class Is>
  bool AnyOf(int i, int size, const Is& is) const {
    if (i < size && is(i)) return true;
    for (int j = 0; each_with_each_ && j < size; ++j) {
      if (j != i && is(j)) return true;
    }
    return false;
  }

 private:
  const bool each_with_each_;
};

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
  if (!BelongsTo(meta, KindOf<ScopeTemplate>::value, template_uid, kTemplateUidLabel)) {
    if (ControllerOf(meta) != nullptr) return StrCat("its controller is ", ControllerText(meta));
    return "it has neither an owner reference nor the label of this ScopeTemplate";
  }
  if (IsClusterRoleNameOf(template_uid, meta.name())) return "";
  return "its name is not one that this ScopeTemplate generates";
}

std::string Difference(const rbacv1::ClusterRole& desired, const rbacv1::ClusterRole& actual) {
  if (!SameRules(desired.rules(), actual.rules())) return "rules";
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

bool GrantsMore(const rbacv1::ClusterRole& actual, const rbacv1::ClusterRole& desired) {
  const std::set<std::string> wanted = BytesOf(desired.rules());
  for (int i = 0; i < actual.rules_size(); ++i) {
    const bool within = i < desired.rules_size() && IsWithin(actual.rules(i), desired.rules(i));
    if (!within && !wanted.contains(actual.rules(i).SerializeAsString())) return true;
  }
  const auto& labels = desired.metadata().labels();
  return actual.has_aggregationrule() ||
         std::ranges::any_of(actual.metadata().labels(),
                             [&](const auto& label) { return !labels.contains(label.first); });
}

bool HasNewRules(const rbacv1::ClusterRole& desired, const rbacv1::ClusterRole& actual) {
  const Pairs pairs(desired.rules(), actual.rules());
  const std::set<std::string> there = BytesOf(actual.rules());
  for (int i = 0; i < desired.rules_size(); ++i) {
    if (there.contains(desired.rules(i).SerializeAsString())) continue;
    const auto has = [&](int j) { return IsWithin(desired.rules(i), actual.rules(j)); };
    if (!pairs.AnyOf(i, actual.rules_size(), has)) return true;
  }
  return false;
}

rbacv1::ClusterRole WithoutNewRules(rbacv1::ClusterRole desired,
                                    const rbacv1::ClusterRole& actual) {
  rbacv1::ClusterRole result = std::move(desired);
  const auto wanted = std::exchange(*result.mutable_rules(), {});
  const Pairs pairs(wanted, actual.rules());
  const std::set<std::string> as_wanted = BytesOf(wanted);
  std::set<std::string> kept;
  const auto keep = [&](const rbacv1::PolicyRule& rule) {
    if (kept.insert(rule.SerializeAsString()).second) *result.add_rules() = rule;
  };
  for (int i = 0; i < actual.rules_size(); ++i) {
    const rbacv1::PolicyRule& rule = actual.rules(i);
    if (as_wanted.contains(rule.SerializeAsString()) ||
        pairs.AnyOf(i, wanted.size(), [&](int j) { return IsWithin(rule, wanted[j]); })) {
      keep(rule);
      continue;
    }
    pairs.AnyOf(i, wanted.size(), [&](int j) {
      if (const auto common = Common(wanted[j], rule); common.has_value()) keep(*common);
      return false;
    });
  }
  return result;
}

}  // namespace mandate::scope
