#include "manager/transport/response_head.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "manager/core/strings.h"

namespace mandate {
namespace {

constexpr absl::Duration kLongestRetryAfter = absl::Hours(24);

// The code of "HTTP/2 200" or "HTTP/1.1 404 Not Found"; 0: not a status line.
int StatusCodeOf(std::string_view line) {
  const size_t space = line.find(' ');
  if (space == std::string_view::npos || line.size() < space + 4) return 0;
  int code = 0;
  return absl::SimpleAtoi(AsAbsl(line.substr(space + 1, 3)), &code) ? code : 0;
}

}  // namespace

ResponseHeadParser::Result ResponseHeadParser::AddLine(std::string_view line) {
  if (done_) return Result::kDone;
  bytes_ += line.size();
  if (bytes_ > max_bytes_) return Result::kTooLarge;
  line = AsStd(absl::StripTrailingAsciiWhitespace(AsAbsl(line)));
  if (line.empty()) {
    done_ = head_.code >= 200;
    return done_ ? Result::kDone : Result::kMore;
  }
  if (line.starts_with("HTTP/")) {
    // A new head: the one before was informational.
    head_ = HttpResponse();
    head_.code = StatusCodeOf(line);
    return Result::kMore;
  }
  const size_t colon = line.find(':');
  if (colon != std::string_view::npos) {
    AddField(line.substr(0, colon),
             AsStd(absl::StripAsciiWhitespace(AsAbsl(line.substr(colon + 1)))));
  }
  return Result::kMore;
}

void ResponseHeadParser::AddField(std::string_view name, std::string_view value) {
  const auto is = [name](absl::string_view other) {
    return absl::EqualsIgnoreCase(AsAbsl(name), other);
  };
  if (is("content-type")) {
    head_.content_type = value;
  } else if (is("retry-after")) {
    head_.retry_after = ParseRetryAfter(value, wall_now_);
  } else if (is("warning")) {
    if (auto text = ParseWarning(value)) head_.warnings.push_back(*std::move(text));
  }
}

std::optional<absl::Duration> ParseRetryAfter(std::string_view value, absl::Time wall_now) {
  absl::Duration wait;
  uint32_t seconds = 0;
  absl::Time date;
  if (absl::SimpleAtoi(AsAbsl(value), &seconds)) {
    wait = absl::Seconds(seconds);
  } else if (absl::ParseTime("%a, %d %b %Y %H:%M:%S GMT", AsAbsl(value), absl::UTCTimeZone(), &date,
                             nullptr)) {
    wait = date - wall_now;
  } else {
    return std::nullopt;
  }
  return std::clamp(wait, absl::ZeroDuration(), kLongestRetryAfter);
}

std::optional<std::string> ParseWarning(std::string_view value) {
  if (!value.starts_with("299 ")) return std::nullopt;
  const size_t open = value.find('"');
  if (open == std::string_view::npos) return std::nullopt;
  std::string text;
  for (size_t i = open + 1; i < value.size(); ++i) {
    if (value[i] == '"') return text;
    if (value[i] == '\\' && i + 1 < value.size()) ++i;
    text.push_back(value[i]);
  }
  return std::nullopt;  // unterminated quote
}

}  // namespace mandate
