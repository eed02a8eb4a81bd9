#include "manager/object/quantity.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "manager/core/strings.h"

namespace mandate {
namespace {

constexpr int kNanoDigits = 9;
// The limit of a decimal quantity in billionths: 10^27 of the unit, so that every value fits an
// int128.
constexpr int kMaxDigits = 27 + kNanoDigits;
const absl::int128 kTooLarge = absl::int128(1'000'000'000'000'000'000) * 1'000'000'000'000'000'000;

const absl::int128 kBillion = 1'000'000'000;
const absl::int128 kMaxBinary = absl::int128(std::numeric_limits<int64_t>::max()) * kBillion;

struct Suffix {
  std::string_view text;
  int exponent;  // the exponent of 10, or of 1024
};
constexpr Suffix kDecimalSuffixes[] = {{"n", -9}, {"u", -6}, {"m", -3}, {"", 0},   {"k", 3},
                                       {"M", 6},  {"G", 9},  {"T", 12}, {"P", 15}, {"E", 18}};
constexpr Suffix kBinarySuffixes[] = {{"Ki", 1}, {"Mi", 2}, {"Gi", 3},
                                      {"Ti", 4}, {"Pi", 5}, {"Ei", 6}};

const Suffix* Find(std::string_view text, const auto& suffixes) {
  const auto found = std::find_if(std::begin(suffixes), std::end(suffixes),
                                  [&](const Suffix& s) { return s.text == text; });
  return found == std::end(suffixes) ? nullptr : &*found;
}

// An exponent such as "e3" or "E-12".
bool ParseExponent(std::string_view text, int* exponent) {
  if (text.size() < 2 || text.size() > 11 || (text[0] != 'e' && text[0] != 'E')) return false;
  return absl::SimpleAtoi(AsAbsl(text.substr(1)), exponent) &&
         !absl::ascii_isspace(static_cast<unsigned char>(text[1])) &&
         !absl::ascii_isspace(static_cast<unsigned char>(text.back()));
}

std::string TakeDigits(std::string_view& text) {
  size_t count = 0;
  while (count < text.size() && absl::ascii_isdigit(static_cast<unsigned char>(text[count]))) {
    ++count;
  }
  std::string digits(text.substr(0, count));
  text.remove_prefix(count);
  return digits;
}

// `digits` times 1024, with as many digits as needed.
std::string Times1024(std::string digits) {
  unsigned carry = 0;
  for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit) {
    carry += static_cast<unsigned>(*digit - '0') * 1024;
    *digit = static_cast<char>('0' + carry % 10);
    carry /= 10;
  }
  return (carry > 0 ? StrCat(carry) : "") + digits;
}

// digits · 10^shift, rounded up; false if the result has more than kMaxDigits digits, also because
// of rounding.
bool Scale(std::string digits, int64_t shift, absl::int128* value) {
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size()));
  *value = 0;
  if (digits.empty()) return true;
  const int64_t size = static_cast<int64_t>(digits.size()) + shift;  // of the result
  if (size > kMaxDigits) return false;
  const auto whole = static_cast<size_t>(std::max<int64_t>(size, 0));
  const bool round_up = digits.find_first_not_of('0', whole) != std::string::npos;
  digits.resize(whole, '0');
  for (char c : digits) *value = *value * 10 + (c - '0');
  if (!round_up) return true;
  *value += 1;
  return *value < kTooLarge;
}

}  // namespace

absl::StatusOr<Quantity> Quantity::Parse(std::string_view text) {
  const auto error = [&] {
    return absl::InvalidArgumentError(
        StrCat("\"", text.substr(0, 64), "\" is not a valid quantity, such as 100m, 1.5 or 64Mi"));
  };
  std::string_view rest = text;
  const bool negative = rest.starts_with('-');
  if (negative || rest.starts_with('+')) rest.remove_prefix(1);
  std::string digits = TakeDigits(rest);
  int64_t shift = kNanoDigits;
  if (rest.starts_with('.')) {
    rest.remove_prefix(1);
    const std::string fraction = TakeDigits(rest);
    shift -= static_cast<int64_t>(fraction.size());
    digits += fraction;
  }
  if (digits.empty()) return error();

  Quantity quantity;
  bool is_binary = false;
  int exponent = 0;
  if (const Suffix* decimal = Find(rest, kDecimalSuffixes)) {
    shift += decimal->exponent;
  } else if (const Suffix* binary = Find(rest, kBinarySuffixes)) {
    is_binary = true;
    for (int i = 0; i < binary->exponent; ++i) digits = Times1024(std::move(digits));
  } else if (ParseExponent(rest, &exponent)) {
    shift += exponent;
  } else {
    return error();
  }
  const bool fits = Scale(std::move(digits), shift, &quantity.nanos_);
  if (is_binary) {
    quantity.nanos_ = fits ? std::min(quantity.nanos_, kMaxBinary) : kMaxBinary;
  } else if (!fits) {
    return absl::OutOfRangeError(StrCat("the quantity ", text.substr(0, 64), " is too large"));
  }
  if (negative) quantity.nanos_ = -quantity.nanos_;
  return quantity;
}

}  // namespace mandate
