// The TokenRequest object of authentication.k8s.io/v1, as JSON.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "manager/core/secret.h"

namespace mandate {

struct IssuedToken {
  Secret token;
  absl::Duration life;
};

// The body of a request; `bound_secret` may be empty.
std::string TokenRequestBody(absl::Duration expiration, const std::vector<std::string>& audiences,
                             const std::string& bound_secret);

// Reads the response's spec.expirationSeconds (not its expirationTimestamp, which depends on
// another clock) and status.token. kInvalidArgument, without any of the text, when either is
// missing or invalid.
absl::StatusOr<IssuedToken> ParseTokenResponse(std::string_view body);

}  // namespace mandate
