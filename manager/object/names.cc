#include "manager/object/names.h"

#include "absl/strings/ascii.h"
#include "manager/core/strings.h"

namespace mandate {
namespace {

constexpr size_t kMaxLabel = 63;
constexpr size_t kMaxSubdomain = 253;

bool IsLowerAlnum(char c) {
  return absl::ascii_islower(static_cast<unsigned char>(c)) || (c >= '0' && c <= '9');
}
bool IsAlnum(char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)); }

absl::Status Bad(std::string_view value, std::string_view what) {
  // Only the first part of a name that is too long is quoted.
  return absl::InvalidArgumentError(StrCat("\"", value.substr(0, kMaxSubdomain), "\" ", what));
}

absl::Status CheckLength(std::string_view value, size_t max) {
  if (value.size() <= max) return absl::OkStatus();
  return Bad(value, StrCat("is longer than ", max, " characters"));
}

bool IsDnsLabel(std::string_view value) {
  if (value.empty() || !IsLowerAlnum(value.front()) || !IsLowerAlnum(value.back())) return false;
  for (char c : value) {
    if (!IsLowerAlnum(c) && c != '-') return false;
  }
  return true;
}

// Checks the part after the slash of a label's key, or a label's value that is not empty.
bool IsQualifiedName(std::string_view value) {
  if (value.empty() || !IsAlnum(value.front()) || !IsAlnum(value.back())) return false;
  for (char c : value) {
    if (!IsAlnum(c) && c != '-' && c != '_' && c != '.') return false;
  }
  return true;
}

constexpr std::string_view kQualifiedRule =
    "must consist of letters, digits, '-', '_' or '.', and start and end with a letter or digit";

}  // namespace

absl::Status CheckDnsLabel(std::string_view value) {
  if (value.empty()) return Bad(value, "must not be empty");
  if (absl::Status status = CheckLength(value, kMaxLabel); !status.ok()) return status;
  if (IsDnsLabel(value)) return absl::OkStatus();
  return Bad(
      value,
      "must consist of lower-case letters, digits or '-', and start and end with a letter or "
      "digit");
}

absl::Status CheckDnsSubdomain(std::string_view value) {
  if (value.empty()) return Bad(value, "must not be empty");
  if (absl::Status status = CheckLength(value, kMaxSubdomain); !status.ok()) return status;
  for (std::string_view rest = value;;) {
    const size_t dot = rest.find('.');
    if (!IsDnsLabel(rest.substr(0, dot))) break;
    if (dot == std::string_view::npos) return absl::OkStatus();
    rest.remove_prefix(dot + 1);
  }
  return Bad(value,
             "must consist of lower-case letters, digits, '-' or '.', and each part between dots "
             "start and end with a letter or digit");
}

absl::Status CheckPathSegment(std::string_view value) {
  if (value.empty()) return Bad(value, "must not be empty");
  if (value == "." || value == "..") return Bad(value, "must not be \".\" or \"..\"");
  if (value.find_first_of("/%") != std::string_view::npos) {
    return Bad(value, "must not contain '/' or '%'");
  }
  return absl::OkStatus();
}

absl::Status CheckLabelKey(std::string_view value) {
  std::string_view name = value;
  if (const size_t slash = value.find('/'); slash != std::string_view::npos) {
    const absl::Status prefix = CheckDnsSubdomain(value.substr(0, slash));
    if (!prefix.ok()) return Bad(value, StrCat("has an invalid prefix: ", prefix.message()));
    name = value.substr(slash + 1);
  }
  if (name.empty()) return Bad(value, "must have a name");
  if (name.size() > kMaxLabel) {
    return Bad(value, StrCat("has a name longer than ", kMaxLabel, " characters"));
  }
  return IsQualifiedName(name) ? absl::OkStatus() : Bad(value, kQualifiedRule);
}

absl::Status CheckLabelValue(std::string_view value) {
  if (absl::Status status = CheckLength(value, kMaxLabel); !status.ok()) return status;
  return value.empty() || IsQualifiedName(value) ? absl::OkStatus() : Bad(value, kQualifiedRule);
}

}  // namespace mandate
