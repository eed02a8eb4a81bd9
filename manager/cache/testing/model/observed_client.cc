#include "manager/cache/testing/model/observed_client.h"

#include <utility>

#include "manager/core/strings.h"
#include "manager/object/json.h"

namespace mandate::model {
namespace {

using Answer = AccessLedger::Answer;

absl::Status NoToken() { return absl::FailedPreconditionError("its Secret is gone"); }

// Passes a body on until the call is over.
class BodyUntil : public BodySink {
 public:
  BodyUntil(std::shared_ptr<BodySink> to, std::shared_ptr<bool> over)
      : to_(std::move(to)), over_(std::move(over)) {}
  void OnHeaders(const HttpResponse& head) override {
    if (!*over_) to_->OnHeaders(head);
  }
  absl::Status OnBody(std::string_view bytes) override {
    return *over_ ? absl::CancelledError("over") : to_->OnBody(bytes);
  }

 private:
  const std::shared_ptr<BodySink> to_;
  const std::shared_ptr<bool> over_;
};

}  // namespace

// The two reviews of one check.
struct ObservedClient::Round {
  WatchScope scope;
  int answers = 0;
  int allowed = 0;
  bool denied = false;
};

class ObservedClient::ObservedSink : public StreamSink {
 public:
  ObservedSink(ObservedClient& client, std::shared_ptr<OpenWatch> open,
               std::shared_ptr<StreamSink> to)
      : client_(client), open_(std::move(open)), to_(std::move(to)) {}

  Flow OnOpen(const HttpResponse& head) override {
    if (client_.muted_) return Flow::kContinue;
    client_.Note(open_->scope, Answer::kAllowed);
    return to_->OnOpen(head);
  }
  Flow OnData(std::string_view bytes) override {
    if (client_.muted_) return Flow::kContinue;
    constexpr std::string_view kEnd = "initial-events-end";
    open_->tail.append(bytes);
    if (open_->tail.find(kEnd) != std::string::npos) open_->complete = true;
    if (open_->tail.size() > kEnd.size()) {
      open_->tail.erase(0, open_->tail.size() - kEnd.size());
    }
    return to_->OnData(bytes);
  }
  void OnClosed(absl::Status status) override {
    // A renewal that is denied leads to reviews, and only these deny.
    if (absl::IsPermissionDenied(status) && !open_->renews) {
      client_.Note(open_->scope, Answer::kDenied);
    }
    to_->OnClosed(std::move(status));
  }

 private:
  ObservedClient& client_;
  const std::shared_ptr<OpenWatch> open_;
  const std::shared_ptr<StreamSink> to_;
};

ObservedClient::ObservedClient(SimulatedLoop& loop, std::string component, AccessLedger& ledger)
    : FakeRestClient(loop, std::move(component)), loop_(loop), ledger_(ledger) {}

const std::vector<std::shared_ptr<ObservedClient::OpenWatch>>& ObservedClient::open_watches() {
  std::erase_if(open_, [](const auto& open) { return !open->watch->live(); });
  return open_;
}

void ObservedClient::Note(const WatchScope& scope, Answer answer) {
  ledger_.Note(std::string(component()), scope, answer, loop_.clock().TimeNow());
}

void ObservedClient::Revoke() {
  revoked_ = true;
  for (const auto& open : open_watches()) open->watch->Close(absl::UnauthenticatedError("401"));
}

void ObservedClient::SetMuted(bool muted) {
  muted_ = muted;
  if (muted) return;
  for (const auto& open : open_watches()) open->watch->Close(absl::UnavailableError("reset"));
}

RestClient::Done ObservedClient::WithDeadline(const CallContext& context,
                                              std::shared_ptr<BodySink>& body, Done done) {
  auto over = std::make_shared<bool>(false);
  if (body != nullptr) body = std::make_shared<BodyUntil>(std::move(body), over);
  ++unanswered_;
  auto shared = std::make_shared<Done>(
      [this, over, done = std::move(done)](absl::StatusOr<HttpResponse> response) mutable {
        if (std::exchange(*over, true)) return;
        --unanswered_;
        std::move(done)(std::move(response));
      });
  const auto end = [over, shared](absl::Status why) {
    if (!*over) std::move (*shared)(std::move(why));
  };
  if (context.deadline != absl::InfiniteFuture()) {
    loop_.PostAt(context.deadline, [end] { end(absl::DeadlineExceededError("no answer")); });
  }
  return [this, over, shared](absl::StatusOr<HttpResponse> response) mutable {
    if (!*over && !muted_) std::move (*shared)(std::move(response));
  };
}

RestClient::Done ObservedClient::ObserveReview(const std::string& body, std::stop_token stop,
                                               Done done) {
  const auto review = ParseJson(body);
  const Json::Value attributes = (*review)["spec"]["resourceAttributes"];
  const WatchScope scope = {attributes["namespace"].asString(), attributes["name"].asString()};
  auto& last = rounds_[scope];
  // The review for list is the first one of a round.
  if (attributes["verb"].asString() == "list") {
    ledger_.Ask(std::string(component()), scope, loop_.clock().TimeNow());
    last = std::make_shared<Round>(Round{.scope = scope});
  }
  return [this, round = last, stop = std::move(stop),
          done = std::move(done)](absl::StatusOr<HttpResponse> response) mutable {
    ++round->answers;
    if (stop.stop_requested()) {
      round->answers = -2;  // the check was given up, and counts for nothing
    } else if (response.ok()) {
      const auto answer = ParseJson(response->body);
      const bool allowed = (*answer)["status"]["allowed"].asBool();
      round->allowed += allowed;
      round->denied = round->denied || !allowed;
    }
    if (round->answers == 2 && round->denied) Note(round->scope, Answer::kDenied);
    if (round->answers == 2 && round->allowed == 2) Note(round->scope, Answer::kAllowed);
    std::move(done)(std::move(response));
  };
}

void ObservedClient::Send(const CallContext& context, RestRequest request, Done done) {
  if (on_send_) on_send_();
  if (revoked_) {
    loop_.Post([done = std::move(done)]() mutable { std::move(done)(NoToken()); });
    return;
  }
  if (request.target.ends_with("selfsubjectaccessreviews")) {
    done = ObserveReview(request.body, context.stop, std::move(done));
  } else if (const auto scope = ScopeOfTarget(request.target)) {
    ledger_.Ask(std::string(component()), *scope, loop_.clock().TimeNow());
    done = [this, scope = *scope,
            done = std::move(done)](absl::StatusOr<HttpResponse> response) mutable {
      if (absl::IsPermissionDenied(response.status())) Note(scope, Answer::kDenied);
      std::move(done)(std::move(response));
    };
  }
  std::shared_ptr<BodySink> body = std::move(request.body_sink);
  done = WithDeadline(context, body, std::move(done));
  request.body_sink = std::move(body);
  FakeRestClient::Send(context, std::move(request), std::move(done));
}

std::unique_ptr<Stream> ObservedClient::Watch(RestRequest request,
                                              std::shared_ptr<StreamSink> sink) {
  if (on_send_) on_send_();
  auto open = std::make_shared<OpenWatch>();
  open->scope = ScopeOfTarget(request.target).value_or(WatchScope());
  open->renews = QueryOf(request.target, "timeoutSeconds") == "1";
  open->initial = QueryOf(request.target, "sendInitialEvents") == "true";
  if (!open->renews && !revoked_) {
    ledger_.Ask(std::string(component()), open->scope, loop_.clock().TimeNow());
  }
  auto stream = FakeRestClient::Watch(std::move(request),
                                      std::make_shared<ObservedSink>(*this, open, std::move(sink)));
  open->watch = watches().back();
  open_watches();  // forgets those that are over
  open_.push_back(std::move(open));
  if (revoked_) open_.back()->watch->Close(NoToken());
  return stream;
}

}  // namespace mandate::model
