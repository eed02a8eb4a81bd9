// One attempt to get a new token, and its outcome.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "manager/core/call_context.h"
#include "manager/kubeconfig/token.h"

namespace mandate {

enum class FetchOutcome {
  kIssued,
  // Permanent errors: they last until a person changes the cluster or the configuration.
  kNoServiceAccount,               // 404
  kNoBoundSecret,                  // 404 on the Secret that tokens are bound to
  kTokenRequestForbidden,          // 403: base's Role does not name this ServiceAccount
  kCreateServiceAccountForbidden,  // 403 for the creation of the ServiceAccount
  kRejected,                       // 400, 409, 422 and other 4xx: the request itself is invalid
  kPluginFailed,  // base's exec plugin; it may need a person, so it does not run all the time
  // Transient errors.
  kBaseRejected,  // 401, or a 403 as system:anonymous: base's credential was rejected
  kNoBaseToken,   // base has no token for the request
  kThrottled,     // 429
  kServerError,   // 5xx
  kUnreachable,   // no complete response in time
  kMalformed,     // a 2xx without a valid token
};

// The label of a metric: "issued", "no_service_account".
std::string_view FetchOutcomeName(FetchOutcome outcome);
// Whether an early retry is useless.
bool IsPermanent(FetchOutcome outcome);

struct FetchResult {
  FetchOutcome outcome = FetchOutcome::kMalformed;
  std::shared_ptr<const Token> token = {};  // kIssued only
  // Otherwise: kFailedPrecondition if permanent, with the manifest or change that is needed; else
  // kUnavailable.
  absl::Status error = {};
  std::optional<absl::Duration> retry_after = {};
};

// Gets tokens of one identity. Loop thread only.
class TokenFetcher {
 public:
  using Done = absl::AnyInvocable<void(FetchResult) &&>;
  // Cancels the fetch in flight, and destroys its `done` without calling it.
  virtual ~TokenFetcher() = default;

  // `done` runs on the loop once, never inside this call, within `context`.
  virtual void Fetch(const CallContext& context, Done done) = 0;
};

}  // namespace mandate
