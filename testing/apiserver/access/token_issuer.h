// TokenRequest: the `token` of a ServiceAccount
// (k8s.io/kubernetes pkg/registry/core/serviceaccount/storage).
#pragma once

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

// Loop thread only.
class TokenIssuer {
 public:
  // `max_life` is the longest life of a token: a longer request is shortened, with a warning; zero
  // means no limit. Borrows the authenticator that accepts the tokens. `new_uid` makes the ids of
  // credentials.
  TokenIssuer(absl::Duration max_life, const Authenticator& authenticator,
              std::function<std::string()> new_uid);

  // The response to a POST of `object`, or the error. Adds the new credential's id to the
  // annotations of the request's audit event.
  absl::StatusOr<Json::Value> Issue(const Request& request, Json::Value object) const;

 private:
  struct Binding;
  absl::StatusOr<Binding> Bind(const std::string& ns, const std::string& account,
                               const Json::Value& ref) const;
  absl::StatusOr<std::shared_ptr<const StoredObject>> Get(const std::string& resource,
                                                          const std::string& ns,
                                                          const std::string& name) const;
  absl::StatusOr<absl::Duration> Life(const Request& request, Json::Value& spec) const;

  const absl::Duration max_life_;
  const Authenticator& authenticator_;
  const std::function<std::string()> new_uid_;
};

}  // namespace mandate::apiserver
