// The watches of a ComponentClient.
#include <memory>
#include <utility>

#include "manager/client/component_client.h"
#include "manager/core/strings.h"

namespace mandate {

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
                weak_.Bind([this, session = std::weak_ptr(session), request = std::move(request)](
                               absl::StatusOr<std::shared_ptr<const Token>> token) {
                  const auto watch = session.lock();
                  if (watch == nullptr || watch->ended()) return;
                  if (!token.ok()) return watch->End(std::move(token).status());
                  HttpRequest http = Signed(request, token->get());
                  watch->Open(*options_.transport, std::move(http), *std::move(token));
                }));
  return handle;
}

void ComponentClient::CancelWatches(const absl::Status& reason) {
  for (WatchSession* session : std::set<WatchSession*>(watches_)) session->End(reason);
}

void ComponentClient::OnWatchAnswered(const HttpResponse& head) { Note(head, "GET"); }

void ComponentClient::OnWatchRefused(const WatchSession& session, const absl::Status& error) {
  if (absl::IsUnauthenticated(error)) OnUnauthenticated(session.token(), session.target(), error);
  if (absl::IsPermissionDenied(error)) OnForbidden("GET", session.target());
}

void ComponentClient::OnWatchEnded(WatchSession* session) {
  watches_.erase(session);
  ReportLevels();
}

}  // namespace mandate
