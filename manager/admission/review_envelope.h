// The members that every kind of review has.
#pragma once

#include <string_view>

#include "absl/status/statusor.h"

namespace mandate {

// Views into the body.
struct ReviewEnvelope {
  std::string_view api_version;
  std::string_view kind;
  std::string_view request;  // JSON; empty: there is none
};

// kInvalidArgument: the body is not a JSON object, or a member has the wrong type.
absl::StatusOr<ReviewEnvelope> ReadReviewEnvelope(std::string_view body);

}  // namespace mandate
