// A ServiceAccount's token: claims in the shape of the API server's JWTs, signed with a key that
// only one server knows.
#ifndef TESTING_APISERVER_ACCESS_TOKEN_H_
#define TESTING_APISERVER_ACCESS_TOKEN_H_

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
  absl::Time issued;  // and not to be used before
  absl::Time expires;
  std::string ns;
  NameAndUid service_account;
  // What the token is bound to, at most one; a Pod may bring its Node along.
  std::optional<NameAndUid> pod;
  std::optional<NameAndUid> secret;
  std::optional<NameAndUid> node;

  bool operator==(const TokenClaims&) const = default;
};

// "<header>.<payload>.<signature>", signed with HMAC-SHA256: a real server's keys are asymmetric,
// which nobody but the server itself could tell.
std::string SignToken(const TokenClaims& claims, std::string_view key);

// The inverse. kInvalidArgument for what is no token of that key.
absl::StatusOr<TokenClaims> OpenToken(std::string_view token, std::string_view key);

}  // namespace mandate::apiserver

#endif  // TESTING_APISERVER_ACCESS_TOKEN_H_
