// Access control of the double as one plug-in: authentication, authorization, the check against
// privilege escalation, and the audit log.
//
//   Access access(options, store, loop);
//   … server with access.plugin() …
//   access.authenticator().Revoke(token);
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/time/time.h"
#include "manager/core/executor.h"
#include "manager/rbac/authorizer.h"
#include "testing/apiserver/access/audit_log.h"
#include "testing/apiserver/access/authenticator.h"
#include "testing/apiserver/access/token_issuer.h"
#include "testing/apiserver/plugin.h"

namespace mandate::apiserver {

struct AccessOptions {
  FixedTokens fixed_tokens;
  // The longest life of a token, as the real server's flag; zero: no limit.
  absl::Duration max_token_life = absl::ZeroDuration();
  // How long a token is valid after its expiry.
  absl::Duration token_leeway = kTokenLeeway;
  AuditSink audit_sink;
  // The seed of the ids of tokens, reviews and audit events.
  uint64_t seed = 1;
};

// Loop thread only. Outlives its server.
class Access : private WriteHooks {
 public:
  // Borrows the objects and the loop, and uses the loop's clock.
  Access(AccessOptions options, const ObjectReader& objects, Loop& loop);
  Access(const Access&) = delete;
  Access& operator=(const Access&) = delete;

  // Borrows this.
  Plugin plugin();

  Authenticator& authenticator() { return authenticator_; }

 private:
  absl::Status CheckRules(const WriteAttributes& write) override;
  absl::Status CheckCreate(const Request& request) override;
  rbac::Decision Authorize(const User& user, const rbac::Attributes& request) override;

  void Authenticate(const std::shared_ptr<Exchange>& exchange, const Handler& next);
  void AuthorizeRequest(const std::shared_ptr<Exchange>& exchange, const Handler& next);

  std::function<std::string()> new_uid_;
  const Clock& clock_;
  Authenticator authenticator_;
  TokenIssuer issuer_;
  const rbac::Authorizer authorizer_;
  AuditLog audit_;
};

}  // namespace mandate::apiserver
