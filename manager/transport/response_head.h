// Reads a response's status line and headers.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "absl/time/time.h"
#include "manager/transport/transport.h"

namespace mandate {

// Single-threaded.
class ResponseHeadParser {
 public:
  enum class Result { kMore, kDone, kTooLarge };

  // `wall_now`: the time to which dates in Retry-After relate.
  ResponseHeadParser(size_t max_bytes, absl::Time wall_now)
      : max_bytes_(max_bytes), wall_now_(wall_now) {}

  // Takes one line with its line break, as libcurl delivers it. The blank line after a final status
  // ends the head. Informational heads (1xx) are skipped, trailers are ignored.
  Result AddLine(std::string_view line);

  bool done() const { return done_; }
  const HttpResponse& head() const { return head_; }

 private:
  void AddField(std::string_view name, std::string_view value);

  const size_t max_bytes_;
  const absl::Time wall_now_;
  HttpResponse head_;
  size_t bytes_ = 0;
  bool done_ = false;
};

// RFC 9110, 10.2.3: seconds, or a date relative to `wall_now`. Never negative, a day at most.
std::optional<absl::Duration> ParseRetryAfter(std::string_view value, absl::Time wall_now);

// The text of a warning as Kubernetes writes it (RFC 7234, 5.5): 299 - "text". Nullopt for other
// codes.
std::optional<std::string> ParseWarning(std::string_view value);

}  // namespace mandate
