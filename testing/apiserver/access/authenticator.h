// Authentication: client certificates, ServiceAccount tokens, fixed tokens, or system:anonymous.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "manager/core/clock.h"
#include "testing/apiserver/access/token.h"
#include "testing/apiserver/plugin.h"
#include "testing/apiserver/request.h"

namespace mandate::apiserver {

// The issuer of all tokens, the server's only audience, and the default audience of a token.
inline constexpr char kIssuer[] = "https://kubernetes.default.svc.cluster.local";
inline constexpr char kSigningKey[] = "the key of a double";

// How long a token is valid after its expiry, and after the deletionTimestamp of an object that it
// needs. This is the real server's value.
inline constexpr absl::Duration kTokenLeeway = absl::Minutes(1);

// The user of each bearer token that never expires, such as the administrator's. The authenticator
// adds the group system:authenticated.
using FixedTokens = std::map<std::string, User>;

// The user of a valid token, and the requested audiences that it is valid for.
struct AuthenticatedToken {
  User user;
  std::vector<std::string> audiences;
};

// The real server caches a valid token for ten seconds; this one checks the stored objects and the
// time at every request. Loop thread only.
class Authenticator {
 public:
  // Borrows the objects and the clock; times are its TimeNow().
  Authenticator(FixedTokens fixed_tokens, const ObjectReader& objects, const Clock& clock,
                absl::Duration leeway = kTokenLeeway);

  // A certificate takes precedence over a token. The error is kUnauthenticated with the Status of
  // a 401, which contains no cause.
  absl::StatusOr<User> Authenticate(const Request& request) const;

  // Empty `audiences` mean the server's own. The error has the cause, worded as in the server's log
  // and in a TokenReview.
  absl::StatusOr<AuthenticatedToken> CheckToken(std::string_view token,
                                                const std::vector<std::string>& audiences) const;

  // Makes a token invalid: a fixed one or one of a ServiceAccount.
  void Revoke(std::string_view token) { revoked_.emplace(token); }

  // Adds a fixed token, or changes its user.
  void SetFixedToken(std::string token, User user) {
    fixed_tokens_[std::move(token)] = std::move(user);
  }

  const ObjectReader& objects() const { return objects_; }
  const Clock& clock() const { return clock_; }

 private:
  absl::Status CheckClaims(const TokenClaims& claims) const;
  // Whether the object exists with that uid, and LongDeleted() is false for it.
  bool Lives(std::string_view resource, std::string_view ns, const NameAndUid& ref) const;
  // Whether its deletionTimestamp is more than the leeway ago.
  bool LongDeleted(const StoredObject& object) const;

  FixedTokens fixed_tokens_;
  const ObjectReader& objects_;
  const Clock& clock_;
  const absl::Duration leeway_;
  std::set<std::string, std::less<>> revoked_;
};

// The user of a token with these claims. Its extra attributes name the token and the objects that
// the token is bound to.
User UserOf(const TokenClaims& claims);

// The token of "Authorization: Bearer <token>"; empty without such a header.
std::string_view BearerToken(const Request& request);

}  // namespace mandate::apiserver
