#include "manager/client/retry_layer.h"

#include <algorithm>
#include <string>
#include <utility>

#include "manager/client/retry_policy.h"
#include "manager/core/not_sent.h"
#include "manager/core/strings.h"
#include "manager/object/api_error.h"

namespace mandate {
namespace {

// Ends the call with `error`.
absl::Status Marked(const ClientCall& call, absl::Status error) {
  if (!call.sent) return MarkNotSent(std::move(error));
  if (call.request.method == "GET" || (!call.ambiguous && !call.awaiting)) return error;
  return MarkOutcomeUnknown(std::move(error));
}

}  // namespace

RetryLayer::~RetryLayer() {
  for (const ClientCallPtr& call : std::exchange(calls_, {})) {
    absl::Status gone = Marked(*call, absl::CancelledError("the component's client was destroyed"));
    options_.loop->Post([done = call->pending.Take(), gone = std::move(gone)]() mutable {
      std::move(done)(std::move(gone));
    });
  }
}

void RetryLayer::Begin(const ClientCallPtr& call) {
  calls_.insert(call);
  if (call->context.deadline == absl::InfiniteFuture()) {
    call->context.deadline = options_.Now() + options_.default_timeout;
  }
  if (call->context.stop.stop_requested()) return Cancel(call);
  Attempt(call);
}

void RetryLayer::Attempt(const ClientCallPtr& call) {
  WaitUntil(call, call->context.deadline, &RetryLayer::OnDeadline);
  next_.Send(call, [this, call](absl::StatusOr<HttpResponse> result) {
    OnResult(call, std::move(result));
  });
}

void RetryLayer::OnResult(const ClientCallPtr& call, absl::StatusOr<HttpResponse> result) {
  if (call->finished()) return;
  const bool sent = std::exchange(call->awaiting, false);
  // Without a place or a token another attempt would fail, too.
  if (result.ok() || !sent || !RetryLater(call, result.status())) Finish(call, std::move(result));
}

bool RetryLayer::RetryLater(const ClientCallPtr& call, const absl::Status& error) {
  const std::string& method = call->request.method;
  const int code = HttpCode(error);
  if (method != "GET" && MayHaveBeenProcessed(code, error)) call->ambiguous = true;
  const RetryReason reason =
      RetryReasonFor(code, error, call->request.idempotent || method == "GET");
  if (reason == RetryReason::kNone) return false;
  if (!call->backoff.has_value()) call->backoff.emplace(options_.backoff);
  if (call->backoff->failures() + 1 >= options_.max_attempts) {
    metrics_.CountLimitReached(ClientMetrics::Limit::kAttempts);
    return false;
  }
  const absl::Duration asked = RetryAfter(error).value_or(absl::ZeroDuration());
  if (asked > options_.max_retry_after) {
    metrics_.CountLimitReached(ClientMetrics::Limit::kRetryAfter);
    return false;
  }
  const absl::Time when = options_.Now() + std::max(call->backoff->Next(random_), asked);
  // The wait would be useless. So the caller gets the error while it still has time.
  if (when >= call->context.deadline) return false;
  call->last_error = error;
  metrics_.Retried(code == 0 ? "<error>" : std::to_string(code), method, reason);
  WaitUntil(call, when, &RetryLayer::Attempt);
  return true;
}

void RetryLayer::WaitUntil(const ClientCallPtr& call, absl::Time when,
                           void (RetryLayer::*then)(const ClientCallPtr&)) {
  call->pending.Arm(*options_.loop, {.deadline = when, .stop = call->context.stop},
                    [this, call, then](absl::StatusCode why) {
                      if (why == absl::StatusCode::kCancelled) return Cancel(call);
                      (this->*then)(call);
                    });
}

void RetryLayer::OnDeadline(const ClientCallPtr& call) {
  std::string text =
      StrCat(call->request.ToString(), " as ", options_.identity->name(), ": the deadline passed");
  if (!call->last_error.ok()) {
    StrAppend(&text, "; last error: ", AsStd(call->last_error.message()));
  }
  Finish(call, absl::DeadlineExceededError(text));
}

void RetryLayer::Cancel(const ClientCallPtr& call) {
  Finish(call, absl::CancelledError(StrCat("cancelled: ", call->request.ToString())));
}

void RetryLayer::Finish(ClientCallPtr call, absl::StatusOr<HttpResponse> result) {
  if (!result.ok()) result = Marked(*call, std::move(result).status());
  RestClient::Done done = call->pending.Take();
  calls_.erase(call);
  next_.End(call);
  // This comes last, because the caller may destroy this client.
  std::move(done)(std::move(result));
}

}  // namespace mandate
