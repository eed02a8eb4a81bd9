// One attempt to get a new token, and what can come of it.
#ifndef MANAGER_KUBECONFIG_TOKEN_FETCHER_H_
#define MANAGER_KUBECONFIG_TOKEN_FETCHER_H_

#include <array>
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
  // Permanent: they stay until somebody changes the cluster or the configuration.
  kNoServiceAccount,  // 404
  kNoBoundSecret,     // 404 on the Secret that tokens are bound to
  kMayNotMint,        // 403: base's Role does not name this ServiceAccount
  kMayNotCreate,      // 403 when creating the ServiceAccount
  kRefused,           // 400, 409, 422 and other 4xx: the request itself is wrong
  kPluginFailed,      // base's exec plugin: it may need a person, and is not run all the time
  // Transient.
  kBaseRejected,  // 401, or a 403 as system:anonymous: base's credential was not accepted
  kNoBaseToken,   // base has no token to ask with
  kThrottled,     // 429
  kServerError,   // 5xx
  kUnreachable,   // no complete response in time
  kMalformed,     // a 2xx that is no token
};
inline constexpr size_t kFetchOutcomes = static_cast<size_t>(FetchOutcome::kMalformed) + 1;

// "issued", "no_service_account": a metric's label.
std::string_view FetchOutcomeName(FetchOutcome outcome);
// Whether trying again soon is pointless.
bool IsPermanent(FetchOutcome outcome);

struct FetchResult {
  FetchOutcome outcome = FetchOutcome::kMalformed;
  std::shared_ptr<const Token> token = {};  // kIssued only
  // Otherwise: kFailedPrecondition when permanent, with what to apply or change; else kUnavailable.
  absl::Status error = {};
  std::optional<absl::Duration> retry_after = {};
};

using FetchCounts = std::array<uint64_t, kFetchOutcomes>;

// Gets tokens of one identity. Loop thread only.
class TokenFetcher {
 public:
  using Done = absl::AnyInvocable<void(FetchResult) &&>;
  // Destroying it drops what is in flight: its `done` is destroyed without being called.
  virtual ~TokenFetcher() = default;

  // `done` runs on the loop once, never inside this call, within `context`.
  virtual void Fetch(const CallContext& context, Done done) = 0;
};

}  // namespace mandate

#endif  // MANAGER_KUBECONFIG_TOKEN_FETCHER_H_
