// The members that every kind of review has.
#pragma once

#include <cstddef>
#include <string_view>

#include "absl/status/statusor.h"

namespace mandate {

// Views into the body.
struct ReviewEnvelope {
  std::string_view api_version;
  std::string_view kind;
  std::string_view request;  // JSON; empty: there is none
  // The bytes of request.userInfo, as JSON: the user's name, uid, groups and extra. 0: there is
  // none.
  size_t user_info_bytes = 0;
};

// kInvalidArgument: the body is not a JSON object, or a member has the wrong type.
absl::StatusOr<ReviewEnvelope> ReadReviewEnvelope(std::string_view body);

}  // namespace mandate
