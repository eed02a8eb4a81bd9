// TokenRequest: the `token` of a ServiceAccount
// (k8s.io/kubernetes pkg/registry/core/serviceaccount/storage).
#ifndef TESTING_APISERVER_ACCESS_TOKEN_ISSUER_H_
#define TESTING_APISERVER_ACCESS_TOKEN_ISSUER_H_

#include <jsoncpp/json/json.h>

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "testing/apiserver/access/authenticator.h"
#include "testing/apiserver/access/token.h"
#include "testing/apiserver/plugin.h"
#include "testing/apiserver/request.h"

namespace mandate::apiserver {

struct TokenIssuerOptions {
  // The shortest life that may be asked for. The real server has this one; tests of renewal want a
  // minute.
  absl::Duration min_life = absl::Minutes(10);
  // Longer lives are cut to this one, with a warning; zero: not.
  absl::Duration max_life = absl::ZeroDuration();
};

// Loop thread only.
class TokenIssuer {
 public:
  // Borrows the authenticator that shall accept the tokens. `new_uid` makes the ids of credentials.
  TokenIssuer(TokenIssuerOptions options, const Authenticator& authenticator,
              std::function<std::string()> new_uid);

  // The answer to a POST of `object`, or the error. Leaves the new credential's id with the
  // request, as an annotation of its audit event.
  absl::StatusOr<Json::Value> Issue(const Request& request, Json::Value object) const;

 private:
  struct Binding;
  absl::StatusOr<Binding> Bind(const std::string& ns, const std::string& account,
                               const Json::Value& ref) const;
  absl::StatusOr<std::shared_ptr<const StoredObject>> Get(const std::string& resource,
                                                          const std::string& ns,
                                                          const std::string& name) const;
  absl::StatusOr<absl::Duration> Life(const Request& request, Json::Value& spec) const;

  const TokenIssuerOptions options_;
  const Authenticator& authenticator_;
  const std::function<std::string()> new_uid_;
};

}  // namespace mandate::apiserver

#endif  // TESTING_APISERVER_ACCESS_TOKEN_ISSUER_H_
