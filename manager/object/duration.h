// Go's text for durations, which metav1.Duration uses: "1h2m3.5s", "300ms", "0s".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace mandate {

std::string FormatGoDuration(int64_t nanoseconds);

// As Go's time.ParseDuration: optional sign, numbers with optional fraction, each with a unit of
// ns, us, µs, ms, s, m, h; or "0". kInvalidArgument also when it exceeds an int64 of nanoseconds.
absl::StatusOr<int64_t> ParseGoDuration(std::string_view text);

}  // namespace mandate
