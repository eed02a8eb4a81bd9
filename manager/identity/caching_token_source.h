// Keeps valid tokens for one identity: fetches them early, in the background, one at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <stop_token>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "manager/core/backoff.h"
#include "manager/core/executor.h"
#include "manager/core/weak_self.h"
#include "manager/identity/fetch_limiter.h"
#include "manager/identity/token_waiters.h"
#include "manager/kubeconfig/token.h"
#include "manager/kubeconfig/token_fetcher.h"

namespace mandate {

// The state of an identity's token, for readiness.
struct TokenStatus {
  enum class State {
    kNone,        // there has been no token, and no failure
    kValid,       // there is a token
    kRefreshing,  // there is a token, and the next is being fetched
    kDegraded,    // the last attempt failed, or the server rejected the token
  };
  State state = State::kNone;
  bool usable = false;           // a valid token exists, perhaps while degraded
  absl::Status last_error = {};  // kDegraded: the reason and the next step
  absl::Time expires = absl::InfinitePast();

  bool operator==(const TokenStatus&) const = default;
};

// The rules (docs/identity.md):
// - A caller never waits while a valid token exists; callers that wait share one fetch.
// - A token is renewed at 80 % of its life, minus spread by identity and jitter.
// - A failed renewal keeps the token; retries back off. Permanent errors are retried within
//   minutes; until then callers get the error at once.
// - Invalidate() drops the cached token only if it is the rejected one, and fetches another at
//   once. If a token is rejected soon after it was fetched, the next fetch waits.
//
// Loop thread only.
class CachingTokenSource : public TokenSource {
 public:
  struct Options {
    Loop* loop = nullptr;  // outlives the source
    std::unique_ptr<TokenFetcher> fetcher = {};
    std::shared_ptr<FetchLimiter> limiter = {};  // shared by all identities
    std::string identity = {};                   // "cluster/component"; it spreads the renewals
    std::string subject = {};                    // "system:serviceaccount:ns:name"; for messages
    uint64_t seed = 0;                           // for the jitter
    // A token is not used for this long before its end.
    absl::Duration leeway = absl::Seconds(10);
    absl::Duration fetch_timeout = absl::Seconds(30);
    Backoff::Options transient_backoff{.max = absl::Seconds(20), .jitter = 0.5};  // 800 ms to 30 s
    Backoff::Options permanent_backoff{
        .initial = absl::Seconds(15), .max = absl::Minutes(2), .jitter = 0.25};
    Backoff::Options rejected_backoff{.max = absl::Minutes(2), .jitter = 0.5};
    // A token that was used for this long was valid: its rejection does not make the next fetch
    // wait.
    absl::Duration rejection_backoff_reset_after = absl::Minutes(5);
    absl::Duration max_retry_after = absl::Minutes(5);
    size_t max_waiters = 10'000;
    WaiterMetrics waiters = {};
    // Called on the loop, later, after each change.
    std::function<void(const TokenStatus&)> listener = {};
    // Called on the loop at the end of each attempt; must not touch the source.
    std::function<void(FetchOutcome)> on_fetch = {};
  };

  // kInvalidArgument if the loop, the fetcher or the limiter is missing.
  static absl::StatusOr<std::unique_ptr<CachingTokenSource>> Create(Options options);
  ~CachingTokenSource() override;

  // Fetches the first token, so that the status is known before the first request.
  void Start();

  std::shared_ptr<const Token> Cached() override;
  void Fetch(const CallContext& context, Callback done) override;
  void Invalidate(const Token& rejected) override;

  TokenStatus status() const;

 private:
  explicit CachingTokenSource(Options options);

  absl::Time Now() const { return options_.loop->clock().TimeNow(); }
  bool Usable() const;
  absl::Time RefreshTime();
  void RunTimerAt(absl::Time when);
  void StartFetch();
  void FetchNow(FetchLimiter::Slot slot);
  void OnFetched(FetchResult result);
  void Accept(std::shared_ptr<const Token> token);
  void Fail(const FetchResult& result);
  void Notify();

  Options options_;
  std::mt19937_64 random_;
  TokenWaiters waiters_;
  std::shared_ptr<const Token> token_;
  bool fetching_ = false;
  absl::Status last_error_;
  bool last_error_permanent_ = false;
  Backoff transient_backoff_;
  Backoff permanent_backoff_;
  Backoff rejected_backoff_;
  TokenStatus notified_;
  std::stop_source stop_;
  TraceContext trace_;                   // of the request that the next fetch is for
  std::unique_ptr<Loop::Timer> timer_;   // for the next renewal or retry
  std::unique_ptr<Loop::Timer> expiry_;  // for the end of the token's use
  WeakSelf weak_;
};

}  // namespace mandate
