#include "manager/client/component_client.h"

#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

#include "manager/client/response_error.h"
#include "manager/core/strings.h"

namespace mandate {

// One Send() until its `done` ran. Its own deadline and stop end it at whatever stage it is.
struct ComponentClient::Call {
  Call(const CallContext& c, RestRequest r, Done d)
      : context(c), request(std::move(r)), done(std::move(d)) {}

  bool finished() const { return !done.has_value(); }

  CallContext context;
  RestRequest request;
  std::optional<Done> done;
  bool running = false;  // holds one of max_in_flight
  std::optional<Backoff> backoff;
  absl::Status last_error;  // of the attempt before this one
  std::unique_ptr<Loop::Timer> deadline;
  std::unique_ptr<Loop::Timer> retry;
  std::optional<std::stop_callback<std::function<void()>>> stop;
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
      self_(std::make_shared<ComponentClient*>(this)) {}

ComponentClient::~ComponentClient() {
  for (const CallPtr& call : std::exchange(calls_, {})) {
    call->deadline = nullptr;
    call->retry = nullptr;
    call->stop.reset();
    Done done = *std::exchange(call->done, std::nullopt);
    options_.loop->Post([done = std::move(done)]() mutable {
      std::move(done)(absl::CancelledError("the component's client is gone"));
    });
  }
  CancelWatches(absl::CancelledError("the component's client is gone"));
}

void ComponentClient::Send(const CallContext& context, RestRequest request, Done done) {
  absl::Status allowed = guard_.Check(request.method, request.target, request.content_type);
  if (request.method == "GET") request.idempotent = true;
  auto call = std::make_shared<Call>(context, std::move(request), std::move(done));
  options_.loop->Post(
      [self = std::weak_ptr(self_), call = std::move(call), allowed = std::move(allowed)] {
        Done done = *std::exchange(call->done, std::nullopt);
        if (!allowed.ok()) return std::move(done)(allowed);
        auto alive = self.lock();
        if (alive == nullptr) {
          return std::move(done)(absl::CancelledError("the component's client is gone"));
        }
        call->done = std::move(done);
        (*alive)->Begin(call);
      });
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
  if (must_wait && queue_.size() >= options_.max_queued) {
    metrics_.Met(ClientMetrics::Bound::kQueue);
    return Finish(call, absl::ResourceExhaustedError(
                            StrCat("component ", component(), " has ", options_.max_in_flight,
                                   " requests in flight and ", options_.max_queued, " waiting")));
  }
  call->deadline = options_.loop->RunAt(call->context.deadline, [this, call] {
    Finish(
        call,
        absl::DeadlineExceededError(StrCat(
            call->request.method, " ", call->request.target, " as ", component(), " took too long",
            call->last_error.ok() ? std::string()
                                  : StrCat("; last error: ", AsStd(call->last_error.message())))));
  });
  if (call->context.stop.stop_possible()) {
    // Runs on whatever thread asks for the stop.
    call->stop.emplace(call->context.stop, [self = std::weak_ptr(self_), loop = options_.loop,
                                            weak = std::weak_ptr(call)] {
      loop->Post([self, weak] {
        auto alive = self.lock();
        auto call = weak.lock();
        if (alive == nullptr || call == nullptr) return;
        (*alive)->Finish(call, absl::CancelledError(StrCat("cancelled: ", call->request.target)));
      });
    });
  }
  if (must_wait) metrics_.Met(ClientMetrics::Bound::kInFlight);
  queue_.push_back(std::move(call));
  StartQueued();
}

void ComponentClient::StartQueued() {
  while (in_flight_ < options_.max_in_flight && !queue_.empty()) {
    CallPtr call = std::move(queue_.front());
    queue_.pop_front();
    call->running = true;
    ++in_flight_;
    Attempt(std::move(call));
  }
  ReportLevels();
}

void ComponentClient::ReportLevels() {
  metrics_.Set({.in_flight = in_flight_, .queued = queue_.size(), .watches = watches_.size()});
}

void ComponentClient::Attempt(CallPtr call) {
  TokenSource* tokens = options_.identity->tokens();
  if (tokens == nullptr) return SendAttempt(std::move(call), nullptr);
  if (std::shared_ptr<const Token> token = tokens->Cached()) {
    return SendAttempt(std::move(call), std::move(token));
  }
  const CallContext context = call->context;
  tokens->Fetch(context, [self = std::weak_ptr(self_), call = std::move(call)](
                             absl::StatusOr<std::shared_ptr<const Token>> token) {
    auto alive = self.lock();
    if (alive == nullptr || call->finished()) return;
    if (!token.ok()) return (*alive)->Finish(call, std::move(token).status());
    (*alive)->SendAttempt(call, *std::move(token));
  });
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
  const CallContext context = call->context;
  options_.transport->Call(context, std::move(http),
                           [self = std::weak_ptr(self_), call = std::move(call),
                            token](absl::StatusOr<HttpResponse> answer) {
                             if (auto alive = self.lock()) {
                               (*alive)->OnAnswer(call, token, std::move(answer));
                             }
                           });
}

void ComponentClient::OnAnswer(CallPtr call, std::shared_ptr<const Token> token,
                               absl::StatusOr<HttpResponse> answer) {
  if (!answer.ok()) {
    const std::string code = "<error>";
    metrics_.Answered(code, call->request.method);
    const absl::Status error = Annotate(answer.status(), call->request);
    const bool may_retry = absl::IsUnavailable(error);
    if (!may_retry || !RetryLater(call, code, error, std::nullopt)) Finish(call, error);
    return;
  }
  Note(*answer, call->request.method);
  if (IsSuccess(*answer)) return Finish(call, *std::move(answer));
  const absl::Status error = ErrorOf(*answer);
  if (absl::IsUnauthenticated(error)) {
    OnCredentialLost(token.get(), error);
  } else if (absl::IsPermissionDenied(error)) {
    OnForbidden(call->request.method, call->request.target);
  } else if (answer->code == 429 || (answer->code == 503 && answer->retry_after.has_value())) {
    if (RetryLater(call, std::to_string(answer->code), error, answer->retry_after)) return;
  }
  Finish(call, error);
}

bool ComponentClient::RetryLater(const CallPtr& call, const std::string& code,
                                 const absl::Status& status,
                                 std::optional<absl::Duration> retry_after) {
  if (call->finished() || !call->request.idempotent) return false;
  if (!call->backoff.has_value()) call->backoff.emplace(options_.backoff);
  if (call->backoff->failures() + 1 >= options_.max_attempts) {
    metrics_.Met(ClientMetrics::Bound::kAttempts);
    return false;
  }
  const absl::Time when =
      Now() + std::max(call->backoff->Next(random_), retry_after.value_or(absl::ZeroDuration()));
  // Waiting for nothing helps nobody: the caller gets the error while it still has time.
  if (when >= call->context.deadline) return false;
  call->last_error = status;
  metrics_.Retried(code, call->request.method);
  call->retry = options_.loop->RunAt(when, [this, call] {
    if (!call->finished()) Attempt(call);
  });
  return true;
}

void ComponentClient::Finish(const CallPtr& call, absl::StatusOr<HttpResponse> result) {
  if (call->finished()) return;
  const CallPtr keep = call;
  Done done = *std::exchange(keep->done, std::nullopt);
  keep->deadline = nullptr;
  keep->retry = nullptr;
  keep->stop.reset();
  calls_.erase(keep);
  if (keep->running) {
    --in_flight_;
  } else {
    std::erase(queue_, keep);
  }
  StartQueued();
  // Last: the caller may destroy this client.
  std::move(done)(std::move(result));
}

class ComponentClient::WatchHandle : public Stream {
 public:
  explicit WatchHandle(std::shared_ptr<WatchSession> session) : session_(std::move(session)) {}
  ~WatchHandle() override { session_->Release(); }

 private:
  const std::shared_ptr<WatchSession> session_;
};

std::unique_ptr<Stream> ComponentClient::Watch(RestRequest request,
                                               std::shared_ptr<StreamSink> sink) {
  WatchSession::Owner* owner = this;
  auto session = std::make_shared<WatchSession>(*options_.loop, owner, std::move(sink),
                                                options_.max_error_body);
  auto handle = std::make_unique<WatchHandle>(session);
  watches_.insert(session.get());
  ReportLevels();
  if (absl::Status allowed = guard_.Check(request.method, request.target); !allowed.ok()) {
    session->End(std::move(allowed));
    return handle;
  }
  if (watches_.size() > options_.max_watches) {
    metrics_.Met(ClientMetrics::Bound::kWatches);
    session->End(absl::ResourceExhaustedError(
        StrCat("component ", component(), " has ", options_.max_watches, " watches open")));
    return handle;
  }
  TokenSource* tokens = options_.identity->tokens();
  std::shared_ptr<const Token> token = tokens == nullptr ? nullptr : tokens->Cached();
  if (tokens == nullptr || token != nullptr) {
    HttpRequest http = Signed(request, token.get());
    session->Open(*options_.transport, std::move(http), std::move(token));
    return handle;
  }
  tokens->Fetch({.deadline = Now() + options_.token_timeout, .stop = {}},
                [self = std::weak_ptr(self_), session = std::weak_ptr(session),
                 request = std::move(request)](absl::StatusOr<std::shared_ptr<const Token>> token) {
                  auto alive = self.lock();
                  auto watch = session.lock();
                  if (alive == nullptr || watch == nullptr || watch->ended()) return;
                  if (!token.ok()) return watch->End(std::move(token).status());
                  HttpRequest http = (*alive)->Signed(request, token->get());
                  watch->Open(*(*alive)->options_.transport, std::move(http), *std::move(token));
                });
  return handle;
}

void ComponentClient::CancelWatches(const absl::Status& reason) {
  for (WatchSession* session : std::set<WatchSession*>(watches_)) session->End(reason);
}

void ComponentClient::OnWatchAnswered(const HttpResponse& head) { Note(head, "GET"); }

void ComponentClient::OnWatchRefused(const WatchSession& session, const absl::Status& error) {
  if (absl::IsUnauthenticated(error)) OnCredentialLost(session.token(), error);
  if (absl::IsPermissionDenied(error)) OnForbidden("GET", session.target());
}

void ComponentClient::OnForbidden(std::string_view method, std::string_view target) {
  if (options_.on_forbidden && guard_.IsOwed(method, target)) options_.on_forbidden();
}

void ComponentClient::OnWatchEnded(WatchSession* session) {
  watches_.erase(session);
  ReportLevels();
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

void ComponentClient::Note(const HttpResponse& response, const std::string& method) {
  metrics_.Answered(std::to_string(response.code), method);
  if (!options_.on_warning) return;
  for (const std::string& warning : response.warnings) options_.on_warning(warning);
}

absl::Status ComponentClient::Annotate(const absl::Status& status,
                                       const RestRequest& request) const {
  return absl::Status(status.code(), StrCat(request.method, " ", request.target, " as ",
                                            component(), ": ", AsStd(status.message())));
}

}  // namespace mandate
