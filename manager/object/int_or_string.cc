#include "manager/object/int_or_string.h"

#include "absl/strings/numbers.h"
#include "manager/core/strings.h"

namespace mandate {
namespace {

constexpr int64_t kString = 1;  // of the field `type`

}  // namespace

IntOrString IntOrStringOf(int32_t value) {
  IntOrString result;
  result.set_type(0);
  result.set_intval(value);
  return result;
}

IntOrString IntOrStringOf(std::string_view value) {
  IntOrString result;
  result.set_type(kString);
  result.set_strval(std::string(value));
  return result;
}

bool IsInt(const IntOrString& value) { return value.type() != kString; }

std::string ToString(const IntOrString& value) {
  return IsInt(value) ? StrCat(value.intval()) : value.strval();
}

bool IsSame(const IntOrString& a, const IntOrString& b) {
  return IsInt(a) == IsInt(b) && ToString(a) == ToString(b);
}

absl::StatusOr<int> ScaledValue(const IntOrString& value, int total, bool round_up) {
  if (IsInt(value)) return value.intval();
  const std::string_view text = value.strval();
  int percent = 0;
  if (!text.ends_with('%') ||
      !absl::SimpleAtoi(AsAbsl(text.substr(0, text.size() - 1)), &percent)) {
    return absl::InvalidArgumentError(
        StrCat("\"", text, "\" must be a number, or a percentage such as \"25%\""));
  }
  const int64_t hundredfold = static_cast<int64_t>(percent) * total;
  return static_cast<int>((hundredfold + (round_up ? 99 : 0)) / 100);
}

}  // namespace mandate
