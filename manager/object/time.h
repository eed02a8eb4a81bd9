// Kubernetes' times: Time has whole seconds, MicroTime six digits of a second, both UTC when
// written.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace mandate {

// "2006-01-02T15:04:05Z"; the fraction is cut off.
std::string FormatTimestamp(absl::Time time);
// "2006-01-02T15:04:05.000000Z". A Lease's renewTime needs exactly six digits.
std::string FormatMicroTimestamp(absl::Time time);

// RFC 3339 with any offset and any fraction, which is kept. kInvalidArgument for any other text,
// such as one with lower case letters, a leap second, or a day that the month does not have.
absl::StatusOr<absl::Time> ParseTimestamp(std::string_view text);
// RFC 3339 with a fraction of exactly six digits.
absl::StatusOr<absl::Time> ParseMicroTimestamp(std::string_view text);

// Whether RFC 3339 can write the time in UTC: the years 0000 to 9999.
inline bool IsInRfc3339Range(absl::Time time) {
  return time >= absl::FromUnixSeconds(-62'167'219'200) &&
         time < absl::FromUnixSeconds(253'402'300'800);
}

// Into and out of the messages Time and MicroTime. A message without seconds is the zero time:
// absl::InfinitePast().
template <class TimeMessage>
void SetTime(absl::Time time, TimeMessage* message) {
  const int64_t seconds = absl::ToUnixSeconds(time);
  message->set_seconds(seconds);
  message->set_nanos(
      static_cast<int32_t>((time - absl::FromUnixSeconds(seconds)) / absl::Nanoseconds(1)));
}
template <class TimeMessage>
absl::Time GetTime(const TimeMessage& message) {
  if (!message.has_seconds() && !message.has_nanos()) return absl::InfinitePast();
  return absl::FromUnixSeconds(message.seconds()) + absl::Nanoseconds(message.nanos());
}

}  // namespace mandate
