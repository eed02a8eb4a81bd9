// The manager's own credential in one cluster: whether the API server is there, which user it is,
// and what it may do.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "manager/base_permissions.h"
#include "manager/base_user_check.h"
#include "manager/client/rest_client.h"
#include "manager/core/call_context.h"
#include "manager/core/executor.h"
#include "manager/core/log.h"
#include "manager/core/mutex.h"
#include "manager/identity/identity_mode.h"
#include "manager/preflight_loop.h"
#include "manager/rbac/rule.h"

namespace mandate {

// Check() and Warning() from any thread, but one Check() at a time, and not on the loop. Everything
// else, and the destructor, on the loop.
class ClusterBase {
 public:
  struct Options {
    RestClient* client = nullptr;  // base's, of this cluster; outlives this
    Endpoint endpoint = {};
    std::string ns = {};               // of the manager
    std::string service_account = {};  // of base, for messages
    IdentityMode mode = IdentityMode::kToken;
    // A permission that base needs in that namespace; nullopt if it needs none there.
    std::optional<rbac::Rule> needed = {};
    Logger log = {};
    // kFailedPrecondition: the manager must not run any longer, because the credential is another
    // user's, or an administrator's. On any thread.
    std::function<void(const absl::Status&)> on_lost = {};
  };

  explicit ClusterBase(Options options) : options_(std::move(options)) {}

  // Asks what is not known yet. OK also if the server does not tell base's permissions: then
  // Warning() has the reason. kUnavailable, kUnauthenticated: the server gives no answer, or does
  // not accept the credential. kInvalidArgument: --namespace is another one. kFailedPrecondition:
  // the manager must not run with this credential, or there is no credential yet.
  absl::Status Check(const CallContext& context);

  // Repeats Check() until everything is known, on `workers`. `timeout`: of one check. `workers`
  // ends before this.
  void KeepChecking(Executor& workers, absl::Duration timeout, uint64_t seed);
  // No check begins any more. Before the workers end.
  void StopChecking() { checks_.reset(); }

  // Empty: everything is known. Otherwise what is not, and why.
  std::string Warning() const;

  // Base may have a new token, perhaps of another user.
  void OnNewToken();

 private:
  // Its server and its user.
  absl::Status Identify(const CallContext& context);
  absl::Status Review(const CallContext& context);
  // One line in the log for all checks without an answer.
  void Note(const absl::Status& permissions);

  const Options options_;
  std::string user_;  // empty: not known yet; only Check() uses it
  std::unique_ptr<BaseUserCheck> user_check_;
  std::unique_ptr<PreflightLoop> checks_;

  mutable Mutex mutex_;
  // OK: it is known what base may do. Before the first check nothing is missing.
  absl::Status known_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace mandate
