#include "manager/object/time.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/ascii.h"
#include "absl/time/civil_time.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"

namespace mandate {
namespace {

// The parts of an RFC 3339 text.
struct Parts {
  absl::Time time;
  size_t fraction_digits = 0;
};

// Removes `digits` decimal digits from the front of `text`.
bool TakeNumber(std::string_view& text, size_t digits, int* value) {
  if (text.size() < digits) return false;
  *value = 0;
  for (char c : text.substr(0, digits)) {
    if (!absl::ascii_isdigit(static_cast<unsigned char>(c))) return false;
    *value = *value * 10 + (c - '0');
  }
  text.remove_prefix(digits);
  return true;
}

bool Take(std::string_view& text, char c) {
  if (text.empty() || text[0] != c) return false;
  text.remove_prefix(1);
  return true;
}

bool TakeOffset(std::string_view& text, absl::Duration* offset) {
  *offset = absl::ZeroDuration();
  if (Take(text, 'Z')) return true;
  const bool west = !text.empty() && text[0] == '-';
  int hours = 0;
  int minutes = 0;
  if (!Take(text, west ? '-' : '+') || !TakeNumber(text, 2, &hours) || !Take(text, ':') ||
      !TakeNumber(text, 2, &minutes) || hours > 23 || minutes > 59) {
    return false;
  }
  *offset = absl::Hours(hours) + absl::Minutes(minutes);
  if (west) *offset = -*offset;
  return true;
}

bool ParseParts(std::string_view text, Parts* parts) {
  int year = 0;
  int month = 0;
  int day = 0;
  int hour = 0;
  int minute = 0;
  int second = 0;
  if (!TakeNumber(text, 4, &year) || !Take(text, '-') || !TakeNumber(text, 2, &month) ||
      !Take(text, '-') || !TakeNumber(text, 2, &day) || !Take(text, 'T') ||
      !TakeNumber(text, 2, &hour) || !Take(text, ':') || !TakeNumber(text, 2, &minute) ||
      !Take(text, ':') || !TakeNumber(text, 2, &second)) {
    return false;
  }
  const absl::CivilSecond civil(year, month, day, hour, minute, second);
  // CivilSecond normalizes its parts, so a part that was out of range now differs.
  if (civil.month() != month || civil.day() != day || civil.hour() != hour ||
      civil.minute() != minute || civil.second() != second) {
    return false;
  }
  absl::Duration fraction;
  if (Take(text, '.')) {
    absl::Duration unit = absl::Seconds(1);
    while (!text.empty() && absl::ascii_isdigit(static_cast<unsigned char>(text[0]))) {
      unit /= 10;
      // Digits after the ninth are ignored.
      if (parts->fraction_digits < 9) fraction += unit * (text[0] - '0');
      ++parts->fraction_digits;
      text.remove_prefix(1);
    }
    if (parts->fraction_digits == 0) return false;
  }
  absl::Duration offset;
  if (!TakeOffset(text, &offset) || !text.empty()) return false;
  parts->time = absl::FromCivil(civil, absl::UTCTimeZone()) - offset + fraction;
  // The offset may move the time out of the range of RFC 3339.
  return IsInRfc3339Range(parts->time);
}

}  // namespace

std::string FormatTimestamp(absl::Time time) {
  return absl::FormatTime("%E4Y-%m-%dT%H:%M:%SZ", time, absl::UTCTimeZone());
}

std::string FormatMicroTimestamp(absl::Time time) {
  return absl::FormatTime("%E4Y-%m-%dT%H:%M:%E6SZ", time, absl::UTCTimeZone());
}

absl::StatusOr<absl::Time> ParseTimestamp(std::string_view text) {
  Parts parts;
  if (!ParseParts(text, &parts)) {
    return absl::InvalidArgumentError(StrCat(
        "\"", text.substr(0, 64), "\" is not a valid RFC 3339 time, such as 2006-01-02T15:04:05Z"));
  }
  return parts.time;
}

absl::StatusOr<absl::Time> ParseMicroTimestamp(std::string_view text) {
  Parts parts;
  if (!ParseParts(text, &parts) || parts.fraction_digits != 6) {
    return absl::InvalidArgumentError(
        StrCat("\"", text.substr(0, 64),
               "\" is not a valid time with microseconds, such as 2006-01-02T15:04:05.000000Z"));
  }
  return parts.time;
}

}  // namespace mandate
