#include "manager/client/auth_layer.h"

#include <utility>

#include "manager/client/response_error.h"
#include "manager/client/self_review.h"
#include "manager/client/served_by.h"
#include "manager/core/not_sent.h"
#include "manager/core/strings.h"

namespace mandate {
namespace {

constexpr int kRequestVerbosity = 5;

}  // namespace

AuthLayer::~AuthLayer() {
  CancelWatches(absl::CancelledError("the component's client was destroyed"));
}

void AuthLayer::WithToken(const CallContext& context,
                          absl::AnyInvocable<void(absl::StatusOr<TokenPtr>)> then) {
  TokenSource* tokens = options_.identity->tokens();
  TokenPtr token = tokens == nullptr ? nullptr : tokens->Cached();
  if (tokens == nullptr || token != nullptr) return then(std::move(token));
  Span span = Span::Child(context.trace,
                          {.component = options_.identity->name(), .name = "wait for a token"});
  CallContext waiting = context;
  waiting.trace = span.context();
  tokens->Fetch(waiting, weak_.Bind([span = std::move(span), then = std::move(then)](
                                        absl::StatusOr<TokenPtr> token) mutable {
    span.SetError(token.status());
    span.End();
    then(std::move(token));
  }));
}

HttpRequest AuthLayer::Signed(const RestRequest& request, const Token* token,
                              const TraceContext& trace) const {
  HttpRequest http = options_.identity->Request(token, request.method, request.target);
  http.accept = request.accept;
  http.body = request.body;
  http.body_sink = request.body_sink;
  if (!request.body.empty()) http.content_type = request.content_type;
  if (std::string parent = trace.traceparent(); !parent.empty()) {
    http.headers.emplace_back("traceparent", std::move(parent));
  }
  return http;
}

void AuthLayer::Send(const ClientCallPtr& call, Done done) {
  WithToken(call->context, [this, call,
                            done = std::move(done)](absl::StatusOr<TokenPtr> token) mutable {
    if (call->finished()) return;
    if (!token.ok()) return std::move(done)(std::move(token).status());
    HttpRequest http = Signed(call->request, token->get(), call->context.trace);
    if (call->response != nullptr) http.body_sink = call->response;
    call->sent = call->awaiting = true;
    const CallContext context = call->context;
    options_.transport->Call(context, std::move(http),
                             weak_.Bind([this, call = std::move(call), token = *std::move(token),
                                         sent_at = options_.Now(), done = std::move(done)](
                                            absl::StatusOr<HttpResponse> response) mutable {
                               NoteAttempt(*call, sent_at, response);
                               if (!call->postponed())
                                 response = Checked(call->request, token, std::move(response));
                               std::move(done)(std::move(response));
                             }));
  });
}

absl::StatusOr<HttpResponse> AuthLayer::Checked(const RestRequest& request, const TokenPtr& token,
                                                absl::StatusOr<HttpResponse> response) {
  absl::Status error;
  if (response.ok()) {
    NoteAnswer(*response, request.method);
    if (IsSuccess(*response)) {
      NoteRbacWrite(request);
      return response;
    }
    error = ErrorOf(*response);
  } else {
    metrics_.CountResponse("<error>", request.method);
    error = absl::Status(response.status().code(),
                         StrCat(request.ToString(), " as ", options_.identity->name(), ": ",
                                AsStd(response.status().message())));
    if (WasNotSent(response.status())) error = MarkNotSent(std::move(error));
  }
  OnError(token, request.method, request.target, error);
  return error;
}

void AuthLayer::NoteRbacWrite(const RestRequest& request) {
  constexpr std::string_view kPrefix = "/apis/rbac.authorization.k8s.io/v1/namespaces/";
  std::string_view path = request.target;
  if (request.method == "GET" || !options_.on_rbac_write || !path.starts_with(kPrefix)) return;
  path.remove_prefix(kPrefix.size());
  options_.on_rbac_write(path.substr(0, path.find('/')));
}

void AuthLayer::OnError(const TokenPtr& token, std::string_view method, std::string_view target,
                        const absl::Status& error) {
  if (absl::IsUnauthenticated(error)) OnUnauthenticated(token, target, error);
  if (!absl::IsPermissionDenied(error) || !options_.on_forbidden) return;
  if (guard_.DenialMeansMissingGrant(method, target)) options_.on_forbidden();
}

// An extension's 401 means that the extension did not trust the API server, or that its clock is
// wrong. The token may still be valid for everything else.
void AuthLayer::OnUnauthenticated(const TokenPtr& token, std::string_view target,
                                  const absl::Status& error) {
  if (IsServedByApiServer(target)) return OnCredentialLost(token.get(), error);
  if (std::exchange(asks_about_credential_, true)) return;
  options_.transport->Call(
      {.deadline = options_.Now() + options_.token_timeout, .stop = {}},
      Signed(SelfReviewRequest(), token.get()),
      weak_.Bind([this, token, error](const absl::StatusOr<HttpResponse>& response) {
        asks_about_credential_ = false;
        const bool lost =
            response.ok() && !IsSuccess(*response) && absl::IsUnauthenticated(ErrorOf(*response));
        if (lost) OnCredentialLost(token.get(), error);
      }));
}

void AuthLayer::OnCredentialLost(const Token* token, const absl::Status& error) {
  if (token == nullptr) return CancelWatches(error);
  options_.identity->tokens()->Invalidate(*token);
  for (WatchSession* session : std::set<WatchSession*>(watches_)) {
    // A late 401 for an old token does not concern watches of a newer one.
    if (session->token() != nullptr && session->token()->acquired <= token->acquired) {
      session->End(error);
    }
  }
}

void AuthLayer::NoteAttempt(const ClientCall& call, absl::Time sent_at,
                            const absl::StatusOr<HttpResponse>& response) {
  const absl::Duration took = options_.Now() - sent_at;
  metrics_.ObserveDuration(call.request.method, took);
  if (!options_.log.IsDebug(kRequestVerbosity)) return;
  // It hides the token of a list's next page.
  const std::string text = call.request.ToString();
  options_.log.Debug(kRequestVerbosity, "Request",
                     {{"method", call.request.method},
                      {"target", std::string_view(text).substr(call.request.method.size() + 1)},
                      {"code", response.ok() ? response->code : 0},
                      {"error", response.status()},
                      {"duration", took},
                      {"retries", call.backoff.has_value() ? call.backoff->failures() : 0}});
}

void AuthLayer::NoteAnswer(const HttpResponse& response, const std::string& method) {
  metrics_.CountResponse(std::to_string(response.code), method);
  if (!options_.on_warning) return;
  for (const std::string& warning : response.warnings) {
    if (warnings_.IsNew(warning)) options_.on_warning(warning);
  }
}

std::unique_ptr<Stream> AuthLayer::Watch(RestRequest request, std::shared_ptr<StreamSink> sink) {
  if (watches_.size() >= options_.max_watches) {
    metrics_.CountLimitReached(ClientMetrics::Limit::kWatches);
    return WatchSession::Reject(
        *options_.loop, std::move(sink),
        absl::ResourceExhaustedError(StrCat("component ", options_.identity->name(), " has ",
                                            options_.max_watches, " watches open")));
  }
  WatchSession::Owner* owner = this;
  auto session = std::make_shared<WatchSession>(*options_.loop, owner, std::move(sink),
                                                options_.max_error_body);
  watches_.insert(session.get());
  metrics_.Set(ClientMetrics::Gauge::kWatches, watches_.size());
  WithToken({.deadline = options_.Now() + options_.token_timeout, .stop = {}},
            [this, weak = std::weak_ptr(session),
             request = std::move(request)](absl::StatusOr<TokenPtr> token) {
              const auto session = weak.lock();
              if (session == nullptr || session->ended()) return;
              if (!token.ok()) return session->End(std::move(token).status());
              HttpRequest http = Signed(request, token->get());
              session->Open(*options_.transport, std::move(http), *std::move(token));
            });
  return WatchSession::Handle(std::move(session));
}

void AuthLayer::CancelWatches(const absl::Status& reason) {
  for (WatchSession* session : std::set<WatchSession*>(watches_)) session->End(reason);
}

void AuthLayer::OnWatchRejected(const WatchSession& session, const absl::Status& error) {
  OnError(session.token(), "GET", session.target(), error);
}

void AuthLayer::OnWatchEnded(WatchSession* session) {
  watches_.erase(session);
  metrics_.Set(ClientMetrics::Gauge::kWatches, watches_.size());
}

}  // namespace mandate
