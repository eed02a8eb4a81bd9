#include "controllers/scope/generated_names.h"

#include <openssl/sha.h>

#include <initializer_list>

#include "manager/core/strings.h"
#include "manager/object/names.h"

namespace mandate::scope {
namespace {

// The letters of Kubernetes' own generated suffixes: no vowels, so no words.
constexpr std::string_view kAlphabet = "bcdfghjklmnpqrstvwxz2456789";
// 27^10 is 47 bits: a collision among a million bindings has odds of 1 in 300.
constexpr size_t kSuffixLength = 10;

// A suffix of the parts; no part may contain a NUL, which separates them.
std::string Suffix(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (std::string_view part : parts) {
    text.append(part);
    text += '\0';
  }
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest);
  std::string suffix;
  for (size_t i = 0; i < kSuffixLength; ++i) {
    // Two bytes a letter: the bias of the remainder is then below one in two thousand.
    suffix += kAlphabet[(digest[2 * i] * 256u + digest[2 * i + 1]) % kAlphabet.size()];
  }
  return suffix;
}

}  // namespace

std::string ClusterRoleName(std::string_view template_uid, std::string_view generate_name) {
  if (!generate_name.ends_with('-')) return std::string(generate_name);
  return StrCat(generate_name, Suffix({template_uid, generate_name}));
}

std::string BindingName(std::string_view instance_uid, std::string_view generate_name,
                        std::string_view ns) {
  const std::string_view dash = generate_name.ends_with('-') ? "" : "-";
  return StrCat(generate_name, dash, Suffix({instance_uid, generate_name, ns}));
}

bool IsClusterRoleNameOf(std::string_view template_uid, std::string_view name) {
  if (name.size() <= kSuffixLength) return false;
  const std::string_view generate_name = name.substr(0, name.size() - kSuffixLength);
  return generate_name.ends_with('-') && ClusterRoleName(template_uid, generate_name) == name;
}

bool IsBindingNameOf(std::string_view instance_uid, std::string_view name, std::string_view ns) {
  if (name.size() <= kSuffixLength) return false;
  const std::string_view before = name.substr(0, name.size() - kSuffixLength);
  if (!before.ends_with('-')) return false;
  // BindingName() adds the dash where the generateName has none.
  return BindingName(instance_uid, before, ns) == name ||
         BindingName(instance_uid, before.substr(0, before.size() - 1), ns) == name;
}

bool IsLikeBindingName(std::string_view name) {
  if (name.size() <= kSuffixLength) return false;
  const size_t before = name.size() - kSuffixLength;
  return name[before - 1] == '-' &&
         name.substr(before).find_first_not_of(kAlphabet) == std::string_view::npos;
}

std::string GenerateNameLabelValue(std::string_view generate_name) {
  return CheckLabelValue(generate_name).ok() ? std::string(generate_name) : Suffix({generate_name});
}

}  // namespace mandate::scope
