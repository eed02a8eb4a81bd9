#include "controllers/scope/generated_names.h"

#include <initializer_list>

#include "manager/core/sha256.h"
#include "manager/core/strings.h"
#include "manager/object/names.h"

namespace mandate::scope {
namespace {

// The letters of Kubernetes' own generated suffixes: no vowels, so no words.
constexpr std::string_view kAlphabet = "bcdfghjklmnpqrstvwxz2456789";
// 27^10 is 47 bits: a collision among a million bindings has odds of 1 in 300.
constexpr size_t kSuffixLength = 10;
// The part of a binding's suffix that identifies the instance: it distinguishes 27^4 instances.
constexpr size_t kInstanceLength = 4;

// A hash of the parts as `length` letters. NUL separates the parts, so no part may contain it.
std::string Letters(std::initializer_list<std::string_view> parts, size_t length) {
  std::string text;
  for (std::string_view part : parts) {
    text.append(part);
    text += '\0';
  }
  const std::string digest = Sha256({text});
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(digest[i]); };
  std::string letters;
  for (size_t i = 0; i < length; ++i) {
    // Two bytes a letter: the bias of the remainder is then below one in two thousand.
    letters += kAlphabet[(byte(2 * i) * 256u + byte(2 * i + 1)) % kAlphabet.size()];
  }
  return letters;
}

// What separates a generateName from its suffix.
std::string_view DashAfter(std::string_view generate_name) {
  return generate_name.ends_with('-') ? "" : "-";
}

}  // namespace

std::string ClusterRoleName(std::string_view template_uid, std::string_view generate_name) {
  return StrCat(kClusterRolePrefix, generate_name, DashAfter(generate_name),
                Letters({template_uid, generate_name}, kSuffixLength));
}

std::string BindingName(std::string_view instance_uid, std::string_view generate_name,
                        std::string_view ns) {
  return StrCat(generate_name, DashAfter(generate_name), InstancePart(instance_uid),
                Letters({instance_uid, generate_name, ns}, kSuffixLength - kInstanceLength));
}

std::string InstancePart(std::string_view instance_uid) {
  return Letters({instance_uid}, kInstanceLength);
}

std::string_view InstancePartOf(std::string_view binding_name) {
  if (binding_name.size() <= kSuffixLength) return "";
  const std::string_view suffix = binding_name.substr(binding_name.size() - kSuffixLength);
  if (binding_name[binding_name.size() - kSuffixLength - 1] != '-') return "";
  if (suffix.find_first_not_of(kAlphabet) != std::string_view::npos) return "";
  return suffix.substr(0, kInstanceLength);
}

bool IsClusterRoleNameOf(std::string_view template_uid, std::string_view name) {
  if (!name.starts_with(kClusterRolePrefix)) return false;
  name.remove_prefix(kClusterRolePrefix.size());
  if (name.size() <= kSuffixLength) return false;
  const std::string_view before = name.substr(0, name.size() - kSuffixLength);
  if (!before.ends_with('-')) return false;
  const std::string_view suffix = name.substr(before.size());
  // ClusterRoleName() adds the dash if the generateName has none.
  for (const std::string_view generate_name : {before, before.substr(0, before.size() - 1)}) {
    if (Letters({template_uid, generate_name}, kSuffixLength) == suffix) return true;
  }
  return false;
}

bool IsBindingNameOf(std::string_view instance_uid, std::string_view name, std::string_view ns) {
  const std::string_view part = InstancePartOf(name);
  if (part.empty() || part != InstancePart(instance_uid)) return false;
  const std::string_view before = name.substr(0, name.size() - kSuffixLength);
  // BindingName() adds the dash if the generateName has none.
  return BindingName(instance_uid, before, ns) == name ||
         BindingName(instance_uid, before.substr(0, before.size() - 1), ns) == name;
}

std::string GenerateNameLabelValue(std::string_view generate_name) {
  return CheckLabelValue(generate_name).ok() ? std::string(generate_name)
                                             : Letters({generate_name}, kSuffixLength);
}

}  // namespace mandate::scope
