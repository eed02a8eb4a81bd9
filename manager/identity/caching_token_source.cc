#include "manager/identity/caching_token_source.h"

#include <algorithm>
#include <utility>

#include "manager/core/strings.h"

namespace mandate {
namespace {

constexpr double kRenewAt = 0.8;
constexpr double kSpread = 0.1;  // of the life, by identity
constexpr absl::Duration kMaxAge = absl::Hours(24);
constexpr absl::Duration kMaxJitter = absl::Seconds(10);

// FNV-1a: gives the same in every process.
double Fraction(std::string_view identity) {
  uint64_t hash = 14695981039346656037u;
  for (unsigned char c : identity) hash = (hash ^ c) * 1099511628211u;
  return static_cast<double>(hash % 100'000) / 100'000;
}

}  // namespace

absl::StatusOr<std::unique_ptr<CachingTokenSource>> CachingTokenSource::Create(Options options) {
  if (options.loop == nullptr || options.fetcher == nullptr || options.limiter == nullptr) {
    return absl::InvalidArgumentError(
        StrCat("the token source of ", options.subject, " needs a loop, a fetcher and a limiter"));
  }
  return std::unique_ptr<CachingTokenSource>(new CachingTokenSource(std::move(options)));
}

CachingTokenSource::CachingTokenSource(Options options)
    : options_(std::move(options)),
      random_(options_.seed),
      waiters_(*options_.loop, options_.subject, options_.max_waiters, options_.waiters),
      transient_backoff_(options_.transient_backoff),
      permanent_backoff_(options_.permanent_backoff),
      rejected_backoff_(options_.rejected_backoff) {}

CachingTokenSource::~CachingTokenSource() { stop_.request_stop(); }

void CachingTokenSource::Start() {
  if (!Usable() && timer_ == nullptr) StartFetch();
}

bool CachingTokenSource::Usable() const {
  return token_ != nullptr && Now() < token_->expires - options_.leeway;
}

std::shared_ptr<const Token> CachingTokenSource::Cached() { return Usable() ? token_ : nullptr; }

void CachingTokenSource::Fetch(const CallContext& context, Callback done) {
  if (Usable()) {
    options_.loop->Post(
        [done = std::move(done), token = token_]() mutable { std::move(done)(std::move(token)); });
    return;
  }
  if (last_error_permanent_ && !fetching_) {
    options_.loop->Post(
        [done = std::move(done), error = last_error_]() mutable { std::move(done)(error); });
    return;
  }
  waiters_.Add(context, std::move(done));
  if (timer_ != nullptr) return;
  if (!fetching_) trace_ = context.trace;
  StartFetch();
}

void CachingTokenSource::Invalidate(const Token& rejected) {
  // A late 401 to an older token does not concern a newer one.
  if (token_ == nullptr || !(*token_->value == *rejected.value)) return;
  const bool proven = Now() - token_->acquired >= options_.rejection_backoff_reset_after;
  token_ = nullptr;
  expiry_ = nullptr;
  if (proven) rejected_backoff_.Reset();
  const bool failing = !last_error_.ok();
  if (!failing) {
    last_error_ =
        absl::UnauthenticatedError(StrCat("the server rejected the token of ", options_.subject,
                                          " (401): its ServiceAccount or Secret may have been "
                                          "deleted or replaced; another token is being fetched"));
    waiters_.SetReason(last_error_);
  }
  // While renewals fail, the timer is their next retry.
  if (!fetching_ && !failing) {
    const bool first = rejected_backoff_.failures() == 0;
    const absl::Duration wait = rejected_backoff_.Next(random_);
    if (first) {
      StartFetch();
    } else {
      RunTimerAt(Now() + wait);
    }
  }
  Notify();
}

absl::Time CachingTokenSource::RefreshTime() {
  const absl::Duration life = token_->expires - token_->acquired;
  if (life == absl::InfiniteDuration()) return absl::InfiniteFuture();
  const double share = kRenewAt - kSpread * Fraction(options_.identity);
  const absl::Duration jitter =
      std::min(kMaxJitter, life / 100) * std::uniform_real_distribution<double>(0, 1)(random_);
  return token_->acquired + std::min(life * share, kMaxAge) - jitter;
}

void CachingTokenSource::RunTimerAt(absl::Time when) {
  timer_ = when == absl::InfiniteFuture() ? nullptr
                                          : options_.loop->RunAt(when, [this] { StartFetch(); });
}

void CachingTokenSource::StartFetch() {
  timer_ = nullptr;
  if (fetching_) return;
  fetching_ = true;
  options_.limiter->Acquire(
      weak_.Bind([this](FetchLimiter::Slot slot) { FetchNow(std::move(slot)); }));
  Notify();
}

void CachingTokenSource::FetchNow(FetchLimiter::Slot slot) {
  const CallContext context{.deadline = Now() + options_.fetch_timeout,
                            .stop = stop_.get_token(),
                            .trace = std::exchange(trace_, {})};
  options_.fetcher->Fetch(context,
                          [slot = std::move(slot), then = weak_.Bind([this](FetchResult result) {
                            OnFetched(std::move(result));
                          })](FetchResult result) mutable {
                            slot = nullptr;
                            then(std::move(result));
                          });
}

void CachingTokenSource::OnFetched(FetchResult result) {
  fetching_ = false;
  if (result.outcome == FetchOutcome::kIssued &&
      (result.token == nullptr || result.token->expires - options_.leeway <= Now())) {
    result.outcome = FetchOutcome::kMalformed;
    result.error = absl::UnavailableError(
        StrCat("the new token of ", options_.subject, " has already expired"));
  }
  if (options_.on_fetch) options_.on_fetch(result.outcome);
  if (result.outcome == FetchOutcome::kIssued) {
    Accept(std::move(result.token));
  } else {
    Fail(result);
  }
  Notify();
}

void CachingTokenSource::Accept(std::shared_ptr<const Token> token) {
  token_ = std::move(token);
  last_error_ = absl::OkStatus();
  last_error_permanent_ = false;
  transient_backoff_.Reset();
  permanent_backoff_.Reset();
  waiters_.SetReason(absl::OkStatus());
  waiters_.Complete(token_);
  RunTimerAt(RefreshTime());
  const absl::Time end = token_->expires - options_.leeway;
  expiry_ =
      end == absl::InfiniteFuture() ? nullptr : options_.loop->RunAt(end, [this] { Notify(); });
}

void CachingTokenSource::Fail(const FetchResult& result) {
  last_error_ = result.error;
  last_error_permanent_ = IsPermanent(result.outcome);
  waiters_.SetReason(last_error_);
  absl::Duration wait;
  if (last_error_permanent_) {
    waiters_.Complete(last_error_);
    wait = permanent_backoff_.Next(random_);
  } else {
    permanent_backoff_.Reset();
    wait = transient_backoff_.Next(random_);
    // Retries come more often as the token's end comes near, but never in a tight loop.
    if (Usable()) {
      const absl::Duration left = token_->expires - options_.leeway - Now();
      wait = std::min(wait, std::max(left / 4, options_.transient_backoff.initial));
    }
  }
  if (result.retry_after.has_value()) {
    wait = std::max(wait, std::min(*result.retry_after, options_.max_retry_after));
  }
  RunTimerAt(Now() + wait);
}

TokenStatus CachingTokenSource::status() const {
  TokenStatus status;
  status.usable = Usable();
  status.last_error = last_error_;
  if (token_ != nullptr) status.expires = token_->expires;
  if (!last_error_.ok()) {
    status.state = TokenStatus::State::kDegraded;
  } else if (status.usable) {
    status.state = fetching_ ? TokenStatus::State::kRefreshing : TokenStatus::State::kValid;
  }
  return status;
}

void CachingTokenSource::Notify() {
  TokenStatus now = status();
  if (now == notified_) return;
  notified_ = std::move(now);
  if (!options_.listener) return;
  options_.loop->Post(weak_.Bind([this, status = notified_] { options_.listener(status); }));
}

}  // namespace mandate
