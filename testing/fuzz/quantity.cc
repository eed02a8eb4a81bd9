// Compares quantities with exact arithmetic: the values of accepted texts, and their order.
#include "manager/object/quantity.h"

#include <algorithm>
#include <boost/multiprecision/cpp_int.hpp>
#include <cctype>
#include <map>
#include <optional>
#include <sstream>
#include <string>

#include "testing/fuzz/fuzz.h"

namespace mandate::fuzz {
namespace {

using boost::multiprecision::cpp_int;

// The value in billionths, rounded away from zero, without any bound.
std::optional<cpp_int> Exact(std::string text, bool* binary) {
  static const auto& suffixes = *new std::map<std::string, cpp_int>{
      {"Ki", cpp_int(1) << 10}, {"Mi", cpp_int(1) << 20}, {"Gi", cpp_int(1) << 30},
      {"Ti", cpp_int(1) << 40}, {"Pi", cpp_int(1) << 50}, {"Ei", cpp_int(1) << 60},
  };
  static const std::string& letters = *new std::string("num kMGTPE");  // by thousands from 10^-9
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.erase(0, 1);
  const size_t end = std::min(text.find_first_not_of("0123456789."), text.size());
  std::string number = text.substr(0, end);
  const std::string suffix = text.substr(end);
  int exponent = 0;
  if (const size_t dot = number.find('.'); dot != std::string::npos) {
    exponent = -static_cast<int>(number.size() - dot - 1);
    number.erase(dot, 1);
  }
  if (number.empty() || number.find('.') != std::string::npos) return std::nullopt;
  number.erase(0, std::min(number.find_first_not_of('0'), number.size() - 1));
  cpp_int value(number);
  *binary = suffixes.contains(suffix);
  if (*binary) {
    value *= suffixes.at(suffix);
  } else if (suffix.size() == 1 && letters.find(suffix) != std::string::npos && suffix != " ") {
    exponent += static_cast<int>(letters.find(suffix)) * 3 - 9;
  } else if (!suffix.empty()) {
    std::string digits = suffix.substr(1);
    if (suffix[0] != 'e' && suffix[0] != 'E') return std::nullopt;
    if (digits.starts_with('+') || digits.starts_with('-')) digits.erase(0, 1);
    if (digits.empty() || digits.size() > 10 ||
        !std::all_of(digits.begin(), digits.end(),
                     [](unsigned char c) { return std::isdigit(c); })) {
      return std::nullopt;
    }
    // Arithmetic with the full exponent would not end; with such a large exponent only its sign
    // matters.
    const int64_t magnitude = std::min<int64_t>(std::stoll(digits), 5000);
    exponent += static_cast<int>(suffix[1] == '-' ? -magnitude : magnitude);
  }
  exponent += 9;
  const cpp_int power =
      boost::multiprecision::pow(cpp_int(10), static_cast<unsigned>(std::abs(exponent)));
  value = exponent >= 0 ? cpp_int(value * power) : cpp_int((value + power - 1) / power);
  return negative ? cpp_int(-value) : value;
}

std::string Decimal(const Quantity& quantity) {
  std::ostringstream out;
  out << quantity.nanos();
  return out.str();
}

}  // namespace
}  // namespace mandate::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace mandate;
  using namespace mandate::fuzz;
  if (size > 1000) return 0;
  const std::string text(Text(data, size));
  const auto quantity = Quantity::Parse(text);
  bool binary = false;
  const auto exact = Exact(text, &binary);
  if (quantity.status().code() == absl::StatusCode::kInvalidArgument) {
    // Parse() rejects an exponent that is too long or does not fit in an int. Such a text has more
    // than 11 characters.
    Require(!exact.has_value() || size > 11, "what is a quantity is accepted", text);
    return 0;
  }
  Require(exact.has_value(), "what is no quantity is refused", text);
  const cpp_int max_binary = cpp_int("9223372036854775807000000000");
  if (!quantity.ok()) {
    const cpp_int limit = boost::multiprecision::pow(cpp_int(10), 36u);
    Require(!binary && abs(*exact) >= limit, "only what is too large is out of range", text);
    return 0;
  }
  cpp_int expected = *exact;
  if (binary) expected = std::clamp(expected, cpp_int(-max_binary), max_binary);
  Require(Decimal(*quantity) == expected.str(), "the value is exact", text, Decimal(*quantity),
          expected);
  Require(
      (*quantity < Quantity()) == (expected < 0) && (*quantity == Quantity()) == (expected == 0),
      "the order is that of values");
  return 0;
}
