// The access half of the double: who asks, whether they may, what they want to write, and the log
// of it all, as one plug-in.
//
//   Access access(options, store, loop);
//   … server with access.plugin() …
//   access.authenticator().Revoke(token);
#ifndef TESTING_APISERVER_ACCESS_ACCESS_H_
#define TESTING_APISERVER_ACCESS_ACCESS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "manager/core/executor.h"
#include "manager/rbac/authorizer.h"
#include "testing/apiserver/access/audit_log.h"
#include "testing/apiserver/access/authenticator.h"
#include "testing/apiserver/access/token_issuer.h"
#include "testing/apiserver/plugin.h"

namespace mandate::apiserver {

struct AccessOptions {
  AuthenticatorOptions authentication;
  TokenIssuerOptions tokens;
  AuditOptions audit;
  // Of the ids of tokens, reviews and audit events.
  uint64_t seed = 1;
};

// Loop thread only. Outlives the server that it is plugged into.
class Access : private WriteHooks {
 public:
  // Borrows the objects and the loop, whose clock it goes by.
  Access(AccessOptions options, const ObjectReader& objects, Loop& loop);
  Access(const Access&) = delete;
  Access& operator=(const Access&) = delete;

  // Borrows this.
  Plugin plugin();

  Authenticator& authenticator() { return authenticator_; }
  // By the roles and bindings that there are now.
  const rbac::Authorizer& authorizer() const { return authorizer_; }

 private:
  absl::Status CheckRules(const WriteAttributes& write) override;
  absl::Status CheckCreate(const Request& request) override;

  void Authenticate(const std::shared_ptr<Exchange>& exchange, const Handler& next);
  void Authorize(const std::shared_ptr<Exchange>& exchange, const Handler& next);

  std::function<std::string()> new_uid_;
  const Clock& clock_;
  Authenticator authenticator_;
  TokenIssuer issuer_;
  const rbac::Authorizer authorizer_;
  AuditLog audit_;
};

}  // namespace mandate::apiserver

#endif  // TESTING_APISERVER_ACCESS_ACCESS_H_
