#include "manager/object/duration.h"

#include <limits>

#include "absl/numeric/int128.h"
#include "absl/strings/ascii.h"
#include "manager/core/strings.h"

namespace mandate {
namespace {

constexpr uint64_t kMicrosecond = 1000;
constexpr uint64_t kMillisecond = 1000 * kMicrosecond;
constexpr uint64_t kSecond = 1000 * kMillisecond;
constexpr uint64_t kMinute = 60 * kSecond;
constexpr uint64_t kHour = 60 * kMinute;
constexpr uint64_t kMaxMagnitude = uint64_t{1} << 63;  // the magnitude of the least int64

struct Unit {
  std::string_view text;
  uint64_t nanoseconds;
};
// A spelling comes before its prefixes.
constexpr Unit kUnits[] = {
    {"ns", 1},
    {"us", kMicrosecond},
    {"\xC2\xB5s", kMicrosecond},  // U+00B5, the micro sign
    {"\xCE\xBCs", kMicrosecond},  // U+03BC, the Greek letter
    {"ms", kMillisecond},
    {"s", kSecond},
    {"m", kMinute},
    {"h", kHour},
};

bool IsDigit(std::string_view text) {
  return !text.empty() && absl::ascii_isdigit(static_cast<unsigned char>(text[0]));
}

// `value` in `unit`s, with its fraction and without trailing zeros: 1.5.
std::string Decimal(uint64_t value, uint64_t unit) {
  std::string out = StrCat(value / unit);
  std::string fraction = StrCat(unit + value % unit).substr(1);
  while (!fraction.empty() && fraction.back() == '0') fraction.pop_back();
  if (!fraction.empty()) StrAppend(&out, ".", fraction);
  return out;
}

// The digits after a decimal point, times `unit`, rounded down; exact for any number of digits.
uint64_t Fraction(std::string_view digits, uint64_t unit) {
  uint64_t value = 0;
  for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit) {
    value = (value + static_cast<unsigned>(*digit - '0') * unit) / 10;
  }
  return value;
}

// Removes one term such as "1.5h" from the front of `text` and adds it to `total`.
bool TakeTerm(std::string_view& text, absl::uint128* total) {
  absl::uint128 whole = 0;
  bool any = false;
  for (; IsDigit(text); text.remove_prefix(1), any = true) {
    whole = whole * 10 + static_cast<unsigned>(text[0] - '0');
    if (whole > kMaxMagnitude) return false;
  }
  std::string_view fraction;
  if (!text.empty() && text[0] == '.') {
    text.remove_prefix(1);
    fraction = text;
    for (; IsDigit(text); text.remove_prefix(1), any = true) {
    }
    fraction.remove_suffix(text.size());
  }
  if (!any) return false;
  for (const Unit& unit : kUnits) {
    if (!text.starts_with(unit.text)) continue;
    text.remove_prefix(unit.text.size());
    *total += whole * unit.nanoseconds + Fraction(fraction, unit.nanoseconds);
    return *total <= kMaxMagnitude;
  }
  return false;
}

}  // namespace

std::string FormatGoDuration(int64_t nanoseconds) {
  if (nanoseconds == 0) return "0s";
  const std::string sign = nanoseconds < 0 ? "-" : "";
  const uint64_t value = nanoseconds < 0 ? uint64_t{0} - static_cast<uint64_t>(nanoseconds)
                                         : static_cast<uint64_t>(nanoseconds);
  if (value < kMicrosecond) return StrCat(sign, value, "ns");
  if (value < kMillisecond) return StrCat(sign, Decimal(value, kMicrosecond), "\xC2\xB5s");
  if (value < kSecond) return StrCat(sign, Decimal(value, kMillisecond), "ms");
  std::string out = sign;
  if (value >= kHour) StrAppend(&out, value / kHour, "h");
  if (value >= kMinute) StrAppend(&out, value % kHour / kMinute, "m");
  StrAppend(&out, Decimal(value % kMinute, kSecond), "s");
  return out;
}

absl::StatusOr<int64_t> ParseGoDuration(std::string_view text) {
  std::string_view rest = text;
  const bool negative = rest.starts_with('-');
  if (negative || rest.starts_with('+')) rest.remove_prefix(1);
  if (rest == "0") return 0;
  absl::uint128 total = 0;
  bool valid = !rest.empty();
  while (valid && !rest.empty()) valid = TakeTerm(rest, &total);
  const uint64_t limit = negative ? kMaxMagnitude : kMaxMagnitude - 1;
  if (!valid || total > limit) {
    return absl::InvalidArgumentError(
        StrCat("\"", text.substr(0, 64), "\" is not a valid duration, such as 1h30m or 2.5s"));
  }
  const uint64_t magnitude = absl::Uint128Low64(total);
  return static_cast<int64_t>(negative ? uint64_t{0} - magnitude : magnitude);
}

}  // namespace mandate
