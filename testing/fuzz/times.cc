// Times and durations: our reader agrees with another one, and a written value can be read again.
#include <algorithm>
#include <boost/multiprecision/cpp_int.hpp>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "manager/object/duration.h"
#include "manager/object/time.h"
#include "testing/fuzz/fuzz.h"

namespace mandate::fuzz {
namespace {

using boost::multiprecision::cpp_int;

void CheckTimestamp(const std::string& text) {
  const auto time = ParseTimestamp(text);
  const auto micro = ParseMicroTimestamp(text);
  Require(time.ok() || !micro.ok(), "what has microseconds is a time", text);
  if (!time.ok()) return;
  absl::Time expected;
  std::string error;
  Require(absl::ParseTime(absl::RFC3339_full, text, &expected, &error), "abseil reads it too", text,
          error);
  Require(*time <= expected && expected - *time < absl::Nanoseconds(1),
          "abseil reads the same, to the nanosecond", text);
  Require(!micro.ok() || *micro == *time, "both readers read the same", text);

  const std::string seconds = FormatTimestamp(*time);
  const auto again = ParseTimestamp(seconds);
  Require(again.ok(), "what is written is read", text, seconds);
  Require(FormatTimestamp(*again) == seconds, "the written form is its own", seconds);
  Require(*again <= *time && *time - *again < absl::Seconds(1), "only the fraction is lost",
          seconds);
  const std::string micros = FormatMicroTimestamp(*time);
  const auto micro_again = ParseMicroTimestamp(micros);
  Require(micro_again.ok(), "what is written with microseconds is read", text, micros);
  Require(*micro_again <= *time && *time - *micro_again < absl::Microseconds(1),
          "only what is finer is lost", micros);
}

// The nanoseconds by exact arithmetic, with each term truncated; nullopt if the text is not a
// duration.
std::optional<cpp_int> Exact(std::string text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.erase(0, 1);
  if (text == "0") return 0;
  if (text.empty()) return std::nullopt;
  cpp_int total = 0;
  while (!text.empty()) {
    const size_t end = std::min(text.find_first_not_of("0123456789."), text.size());
    std::string number = text.substr(0, end);
    text.erase(0, end);
    cpp_int scale = 1;
    if (const size_t dot = number.find('.'); dot != std::string::npos) {
      for (size_t i = dot + 1; i < number.size(); ++i) scale *= 10;
      number.erase(dot, 1);
    }
    if (number.empty() || number.find('.') != std::string::npos) return std::nullopt;
    number.erase(0, std::min(number.find_first_not_of('0'), number.size() - 1));
    const struct {
      std::string_view text;
      int64_t nanoseconds;
    } kUnits[] = {
        {"ns", 1},         {"us", 1000},         {"\xC2\xB5s", 1000},   {"\xCE\xBCs", 1000},
        {"ms", 1'000'000}, {"s", 1'000'000'000}, {"m", 60'000'000'000}, {"h", 3'600'000'000'000}};
    bool found = false;
    for (const auto& unit : kUnits) {
      if (!text.starts_with(unit.text)) continue;
      text.erase(0, unit.text.size());
      total += cpp_int(number) * unit.nanoseconds / scale;
      found = true;
      break;
    }
    if (!found) return std::nullopt;
  }
  return negative ? cpp_int(-total) : total;
}

void CheckDuration(const std::string& text) {
  const auto duration = ParseGoDuration(text);
  const auto exact = Exact(text);
  const bool fits = exact.has_value() && *exact >= INT64_MIN && *exact <= INT64_MAX;
  Require(duration.ok() == fits, "exactly what fits is a duration", text);
  if (!duration.ok()) return;
  Require(*duration == *exact, "the duration is exact", text, *duration, *exact);
  const std::string written = FormatGoDuration(*duration);
  const auto again = ParseGoDuration(written);
  Require(again.ok() && *again == *duration, "what is written is read", text, written);
}

}  // namespace
}  // namespace mandate::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace mandate::fuzz;
  if (size > 200) return 0;
  const std::string text(Text(data, size));
  CheckTimestamp(text);
  CheckDuration(text);
  return 0;
}
