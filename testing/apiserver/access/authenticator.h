// Who asks: client certificates, ServiceAccount tokens, fixed tokens, or nobody.
#ifndef TESTING_APISERVER_ACCESS_AUTHENTICATOR_H_
#define TESTING_APISERVER_ACCESS_AUTHENTICATOR_H_

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

struct AuthenticatorOptions {
  // Bearer tokens that never expire, and whose they are: the administrator's. The groups gain
  // system:authenticated.
  std::map<std::string, User> fixed_tokens;
  std::string issuer = "https://kubernetes.default.svc.cluster.local";
  // For whom the server takes itself, and for whom a token is issued that names nobody.
  std::vector<std::string> audiences = {"https://kubernetes.default.svc.cluster.local"};
  // What signs tokens.
  std::string signing_key = "the key of a double";
  // How long beyond their end tokens are good, and those of what is being deleted.
  absl::Duration leeway = absl::Minutes(1);
  // Whether a request without credentials is system:anonymous, and not refused.
  bool anonymous = true;
};

// A token that is good, and for which of the audiences asked for.
struct AuthenticatedToken {
  User user;
  std::vector<std::string> audiences;
};

// The real server remembers a good token for ten seconds; here every request is judged by what is
// stored and by the time that it is. Loop thread only.
class Authenticator {
 public:
  // Borrows the objects and the clock, whose TimeNow() counts.
  Authenticator(AuthenticatorOptions options, const ObjectReader& objects, const Clock& clock);

  // A certificate counts before a token. kUnauthenticated, with the Status of the 401, which tells
  // no cause.
  absl::StatusOr<User> Authenticate(const Request& request) const;

  // `audiences` empty: the server's own. The error says why, in the words of the server's log and
  // of a TokenReview.
  absl::StatusOr<AuthenticatedToken> CheckToken(std::string_view token,
                                                const std::vector<std::string>& audiences) const;

  // No request with this token, of whichever sort, is authenticated any more.
  void Revoke(std::string_view token) { revoked_.emplace(token); }

  // Whose a fixed token is from now on; a new one, too.
  void SetFixedToken(std::string token, User user) {
    options_.fixed_tokens[std::move(token)] = std::move(user);
  }

  const AuthenticatorOptions& options() const { return options_; }
  const ObjectReader& objects() const { return objects_; }
  const Clock& clock() const { return clock_; }

 private:
  absl::Status CheckClaims(const TokenClaims& claims) const;
  // Whether the object is there, with that uid, and not long deleted.
  bool Lives(std::string_view resource, std::string_view ns, const NameAndUid& ref) const;
  bool LongDeleted(const StoredObject& object) const;

  AuthenticatorOptions options_;
  const ObjectReader& objects_;
  const Clock& clock_;
  std::set<std::string, std::less<>> revoked_;
};

// The user whom the token of these claims authenticates, with the extra attributes that name it.
User UserOf(const TokenClaims& claims);

// The token of "Authorization: Bearer <token>"; empty when there is none.
std::string_view BearerToken(const Request& request);

}  // namespace mandate::apiserver

#endif  // TESTING_APISERVER_ACCESS_AUTHENTICATOR_H_
