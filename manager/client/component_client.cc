#include "manager/client/component_client.h"

#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

#include "manager/client/ambiguous.h"
#include "manager/client/response_error.h"
#include "manager/client/retry_policy.h"
#include "manager/client/self_review.h"
#include "manager/client/served_by.h"
#include "manager/core/not_sent.h"
#include "manager/core/pending.h"
#include "manager/core/strings.h"
#include "manager/object/api_error.h"

namespace mandate {
namespace {

constexpr int kRequestVerbosity = 5;

}  // namespace

// One Send() until its `done` ran. Its own deadline and stop end it at whatever stage it is.
struct ComponentClient::Call : std::enable_shared_from_this<Call> {
  Call(const CallContext& c, RestRequest r, Done d)
      : context(c), request(std::move(r)), pending(std::move(d)) {}

  bool finished() const { return pending.taken(); }

  CallContext context;
  RestRequest request;
  Pending<absl::StatusOr<HttpResponse>> pending;
  bool running = false;    // holds one of max_in_flight
  bool sent = false;       // at least one attempt was
  bool awaiting = false;   // an attempt that was sent has no answer yet
  bool ambiguous = false;  // an earlier attempt may have been carried out
  absl::Time sent_at;      // the last attempt
  std::optional<Backoff> backoff;
  std::shared_ptr<AnswerBudget::Answer> answer;  // of the attempt; null with a sink of the caller's
  size_t answer_bytes = 0;                       // so many had come when it was postponed
  absl::Status last_error;                       // of the attempt before this one
  std::unique_ptr<Loop::Timer> retry;
};

absl::StatusOr<std::unique_ptr<ComponentClient>> ComponentClient::Create(Options options) {
  if (options.loop == nullptr || options.transport == nullptr || options.identity == nullptr ||
      options.mandate == nullptr) {
    return absl::InvalidArgumentError(
        "a component's client needs a loop, a transport, an identity and a mandate");
  }
  if (options.identity->name() != options.mandate->component) {
    return absl::InvalidArgumentError(StrCat("the mandate of ", options.mandate->component,
                                             " is not for the identity of ",
                                             options.identity->name()));
  }
  return std::unique_ptr<ComponentClient>(new ComponentClient(std::move(options)));
}

ComponentClient::ComponentClient(Options options)
    : options_(std::move(options)),
      guard_(*options_.mandate, options_.guard, options_.on_undeclared, options_.metrics),
      random_(options_.seed),
      metrics_(options_.metrics, *options_.identity),
      answers_(AnswerBudget::Create(options_.answers, metrics_.answer_bytes())),
      warnings_(options_.max_warnings_remembered) {}

ComponentClient::~ComponentClient() {
  for (const CallPtr& call : std::exchange(calls_, {})) {
    call->retry = nullptr;
    Done done = call->pending.Take();
    absl::Status gone = Marked(*call, absl::CancelledError("the component's client is gone"));
    options_.loop->Post([done = std::move(done), gone = std::move(gone)]() mutable {
      std::move(done)(std::move(gone));
    });
  }
  CancelWatches(absl::CancelledError("the component's client is gone"));
  answers_->DropGauge();
}

void ComponentClient::Send(const CallContext& context, RestRequest request, Done done) {
  absl::Status allowed = guard_.Check(request.method, request.target, request.content_type);
  if (request.method == "GET") request.idempotent = true;
  auto call = std::make_shared<Call>(context, std::move(request), std::move(done));
  options_.loop->Post(weak_.BindOr(
      [this, call, allowed] {
        if (!allowed.ok()) return std::move(call->pending.Take())(NotSent(allowed));
        Begin(call);
      },
      [call, allowed] {
        std::move(call->pending.Take())(NotSent(
            allowed.ok() ? absl::CancelledError("the component's client is gone") : allowed));
      }));
}

void ComponentClient::Begin(CallPtr call) {
  calls_.insert(call);
  if (call->context.deadline == absl::InfiniteFuture()) {
    call->context.deadline = Now() + options_.default_timeout;
  }
  if (call->context.stop.stop_requested()) {
    return Finish(call, absl::CancelledError(StrCat("cancelled: ", call->request.target)));
  }
  const bool must_wait = in_flight_ >= options_.max_in_flight;
  if (must_wait && queued() >= options_.max_queued) {
    metrics_.Met(ClientMetrics::Bound::kQueue);
    return Finish(call, absl::ResourceExhaustedError(
                            StrCat("component ", component(), " has ", options_.max_in_flight,
                                   " requests in flight and ", options_.max_queued, " waiting")));
  }
  call->pending.Arm(*options_.loop, call->context, [this, id = call.get()](absl::StatusCode why) {
    const CallPtr call = id->shared_from_this();
    if (why == absl::StatusCode::kCancelled) {
      return Finish(call, absl::CancelledError(StrCat("cancelled: ", call->request.target)));
    }
    Finish(
        call,
        absl::DeadlineExceededError(StrCat(
            call->request.method, " ", call->request.target, " as ", component(), " took too long",
            call->last_error.ok() ? std::string()
                                  : StrCat("; last error: ", AsStd(call->last_error.message())))));
  });
  if (must_wait) metrics_.Met(ClientMetrics::Bound::kInFlight);
  queue_.push_back(std::move(call));
  StartQueued();
}

void ComponentClient::StartQueued() {
  while (in_flight_ < options_.max_in_flight) {
    const bool again =
        !postponed_.empty() && answers_->HasRoomFor(postponed_.front()->answer_bytes);
    std::deque<CallPtr>& queue = again ? postponed_ : queue_;
    if (queue.empty()) break;
    CallPtr call = std::move(queue.front());
    queue.pop_front();
    call->running = true;
    ++in_flight_;
    Attempt(std::move(call));
  }
  ReportLevels();
}

void ComponentClient::ReportLevels() {
  metrics_.Set({.in_flight = in_flight_, .queued = queued(), .watches = watches_.size()});
}

void ComponentClient::Attempt(CallPtr call) {
  TokenSource* tokens = options_.identity->tokens();
  if (tokens == nullptr) return SendAttempt(std::move(call), nullptr);
  if (std::shared_ptr<const Token> token = tokens->Cached()) {
    return SendAttempt(std::move(call), std::move(token));
  }
  const CallContext context = call->context;
  tokens->Fetch(context, weak_.Bind([this, call = std::move(call)](
                                        absl::StatusOr<std::shared_ptr<const Token>> token) {
    if (call->finished()) return;
    if (!token.ok()) return Finish(call, std::move(token).status());
    SendAttempt(call, *std::move(token));
  }));
}

HttpRequest ComponentClient::Signed(const RestRequest& request, const Token* token) const {
  HttpRequest http = options_.identity->Request(token, request.method, request.target);
  http.accept = request.accept;
  http.body = request.body;
  http.body_sink = request.body_sink;
  if (!request.body.empty()) http.content_type = request.content_type;
  return http;
}

void ComponentClient::SendAttempt(CallPtr call, std::shared_ptr<const Token> token) {
  HttpRequest http = Signed(call->request, token.get());
  if (http.body_sink == nullptr) {
    call->answer = answers_->Begin(/*repeatable=*/call->request.method == "GET");
    http.body_sink = call->answer;
  }
  call->sent = call->awaiting = true;
  call->sent_at = Now();
  const CallContext context = call->context;
  options_.transport->Call(
      context, std::move(http),
      weak_.Bind([this, call = std::move(call), token](absl::StatusOr<HttpResponse> answer) {
        OnAnswer(call, token, std::move(answer));
      }));
}

void ComponentClient::OnAnswer(CallPtr call, std::shared_ptr<const Token> token,
                               absl::StatusOr<HttpResponse> answer) {
  call->awaiting = false;
  NoteAttempt(*call, answer);
  std::string body;
  if (const auto kept = std::exchange(call->answer, nullptr)) {
    call->answer_bytes = kept->postponed_bytes();
    if (kept->postponed() && !call->finished()) return Postpone(call);
    if (kept->too_large()) metrics_.Met(ClientMetrics::Bound::kAnswer);
    body = kept->TakeBody();
  }
  int code = 0;
  absl::Status error;
  if (answer.ok()) {
    Note(*answer, call->request.method);
    if (IsSuccess(*answer)) {
      if (call->request.body_sink == nullptr) answer->body = std::move(body);
      return Finish(call, *std::move(answer));
    }
    code = answer->code;
    error = ErrorOf(*answer);
  } else {
    metrics_.Answered("<error>", call->request.method);
    error = Annotate(answer.status(), call->request);
  }
  if (absl::IsUnauthenticated(error)) OnUnauthenticated(token, call->request.target, error);
  if (absl::IsPermissionDenied(error)) OnForbidden(call->request.method, call->request.target);
  if (call->request.method != "GET" && MayHaveBeenDone(code, error)) call->ambiguous = true;
  if (!RetryLater(call, code, error)) return Finish(call, std::move(error));
  // The bytes that had come are free.
  StartQueued();
}

bool ComponentClient::RetryLater(const CallPtr& call, int code, const absl::Status& error) {
  if (call->finished()) return false;
  const RetryReason reason = WhyRetry(code, error, call->request.idempotent);
  if (reason == RetryReason::kNone) return false;
  if (!call->backoff.has_value()) call->backoff.emplace(options_.backoff);
  if (call->backoff->failures() + 1 >= options_.max_attempts) {
    metrics_.Met(ClientMetrics::Bound::kAttempts);
    return false;
  }
  const absl::Duration asked = RetryAfter(error).value_or(absl::ZeroDuration());
  if (asked > options_.max_retry_after) {
    metrics_.Met(ClientMetrics::Bound::kRetryAfter);
    return false;
  }
  const absl::Time when = Now() + std::max(call->backoff->Next(random_), asked);
  // Waiting for nothing helps nobody: the caller gets the error while it still has time.
  if (when >= call->context.deadline) return false;
  call->last_error = error;
  metrics_.Retried(code == 0 ? "<error>" : std::to_string(code), call->request.method, reason);
  call->retry = options_.loop->RunAt(when, [this, call] {
    if (!call->finished()) Attempt(call);
  });
  return true;
}

void ComponentClient::Postpone(const CallPtr& call) {
  metrics_.Met(ClientMetrics::Bound::kAnswerBytes);
  call->running = false;
  --in_flight_;
  postponed_.push_back(call);
  StartQueued();
}

absl::Status ComponentClient::Marked(const Call& call, absl::Status error) {
  if (!call.sent) return NotSent(std::move(error));
  if (call.request.method == "GET" || (!call.ambiguous && !call.awaiting)) return error;
  return Ambiguous(std::move(error));
}

void ComponentClient::Finish(const CallPtr& call, absl::StatusOr<HttpResponse> result) {
  if (call->finished()) return;
  const CallPtr keep = call;
  Done done = keep->pending.Take();
  if (!result.ok()) result = Marked(*keep, std::move(result).status());
  keep->retry = nullptr;
  if (keep->answer != nullptr) keep->answer->Abandon();
  calls_.erase(keep);
  if (keep->running) {
    --in_flight_;
  } else {
    std::erase(queue_, keep);
    std::erase(postponed_, keep);
  }
  StartQueued();
  // Last: the caller may destroy this client.
  std::move(done)(std::move(result));
}

void ComponentClient::OnForbidden(std::string_view method, std::string_view target) {
  if (options_.on_forbidden && guard_.IsOwed(method, target)) options_.on_forbidden();
}

// An extension's 401 says that the extension did not believe the API server, or its own clock: the
// token may be as good as ever for everything else.
void ComponentClient::OnUnauthenticated(std::shared_ptr<const Token> token, std::string_view target,
                                        const absl::Status& error) {
  if (IsServedByApiServer(target)) return OnCredentialLost(token.get(), error);
  if (std::exchange(asks_about_credential_, true)) return;
  const Token* const about = token.get();
  options_.transport->Call({.deadline = Now() + options_.token_timeout, .stop = {}},
                           Signed(SelfReviewRequest(), about),
                           weak_.Bind([this, token = std::move(token),
                                       error](const absl::StatusOr<HttpResponse>& answer) {
                             asks_about_credential_ = false;
                             const bool lost = answer.ok() && !IsSuccess(*answer) &&
                                               absl::IsUnauthenticated(ErrorOf(*answer));
                             if (lost) OnCredentialLost(token.get(), error);
                           }));
}

void ComponentClient::OnCredentialLost(const Token* token, const absl::Status& status) {
  if (token == nullptr) return CancelWatches(status);
  options_.identity->tokens()->Invalidate(*token);
  for (WatchSession* session : std::set<WatchSession*>(watches_)) {
    // A late 401 to an old token says nothing about watches of a newer one.
    if (session->token() != nullptr && session->token()->acquired <= token->acquired) {
      session->End(status);
    }
  }
}

void ComponentClient::NoteAttempt(const Call& call, const absl::StatusOr<HttpResponse>& answer) {
  const absl::Duration took = Now() - call.sent_at;
  metrics_.Took(call.request.method, took);
  if (!options_.log.IsDebug(kRequestVerbosity)) return;
  options_.log.Debug(kRequestVerbosity, "Request",
                     {{"method", call.request.method},
                      {"target", call.request.target},
                      {"code", answer.ok() ? answer->code : 0},
                      {"error", answer.status()},
                      {"duration", took},
                      {"retries", call.backoff.has_value() ? call.backoff->failures() : 0}});
}

void ComponentClient::Note(const HttpResponse& response, const std::string& method) {
  metrics_.Answered(std::to_string(response.code), method);
  if (!options_.on_warning) return;
  for (const std::string& warning : response.warnings) {
    if (warnings_.IsNew(warning)) options_.on_warning(warning);
  }
}

absl::Status ComponentClient::Annotate(const absl::Status& status,
                                       const RestRequest& request) const {
  absl::Status annotated(status.code(), StrCat(request.method, " ", request.target, " as ",
                                               component(), ": ", AsStd(status.message())));
  return WasNotSent(status) ? NotSent(std::move(annotated)) : annotated;
}

}  // namespace mandate
