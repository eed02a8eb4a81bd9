// A ServiceAccount's token: the claims of the API server's JWTs, signed with a symmetric key.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace mandate::apiserver {

struct NameAndUid {
  std::string name;
  std::string uid;

  bool operator==(const NameAndUid&) const = default;
};

// A value. Times have whole seconds.
struct TokenClaims {
  std::string issuer;
  std::string jti;
  std::vector<std::string> audiences;
  absl::Time issued;  // the token is not valid before this time
  absl::Time expires;
  std::string ns;
  NameAndUid service_account;
  // The bound object: at most one, except that the token of a Pod may name its Node, too.
  std::optional<NameAndUid> pod;
  std::optional<NameAndUid> secret;
  std::optional<NameAndUid> node;

  bool operator==(const TokenClaims&) const = default;
};

// "<header>.<payload>.<signature>", signed with HMAC-SHA256. A real server's keys are asymmetric; a
// client cannot see the difference, as it does not verify signatures.
std::string SignToken(const TokenClaims& claims, std::string_view key);

// The inverse. kInvalidArgument if the token was not signed with that key.
absl::StatusOr<TokenClaims> OpenToken(std::string_view token, std::string_view key);

}  // namespace mandate::apiserver
