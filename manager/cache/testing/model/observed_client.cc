#include "manager/cache/testing/model/observed_client.h"

#include <utility>

#include "manager/client/testing/fake_rest_client.h"
#include "manager/core/strings.h"
#include "manager/object/json.h"

namespace mandate::model {
namespace {

using Answer = AccessLedger::Answer;

absl::Status NoToken() { return absl::FailedPreconditionError("its Secret is gone"); }

}  // namespace

// One request. It ends with the answer or at its deadline, and then passes nothing on.
class ObservedClient::Call : public BodySink, public std::enable_shared_from_this<Call> {
 public:
  Call(Done done, std::shared_ptr<BodySink> body)
      : done_(std::move(done)), body_(std::move(body)) {}

  void Start(Loop& loop, absl::Time deadline) {
    if (deadline == absl::InfiniteFuture()) return;
    timer_ = loop.RunAt(deadline, [weak = weak_from_this()] {
      if (const auto call = weak.lock()) call->End(absl::DeadlineExceededError("no answer"));
    });
  }
  bool over() const { return over_; }
  void End(absl::StatusOr<HttpResponse> response) {
    if (std::exchange(over_, true)) return;
    timer_.reset();
    std::move(done_)(std::move(response));
  }

  void OnHeaders(const HttpResponse& head) override {
    if (!over_) body_->OnHeaders(head);
  }
  absl::Status OnBody(std::string_view bytes) override {
    return over_ ? absl::CancelledError("over") : body_->OnBody(bytes);
  }

 private:
  Done done_;
  const std::shared_ptr<BodySink> body_;
  std::unique_ptr<Loop::Timer> timer_;
  bool over_ = false;
};

// The reviews of one check.
struct ObservedClient::Round {
  WatchScope scope;
  int answers = 0;
  int allowed = 0;
  bool denied = false;
};

class ObservedClient::ObservedSink : public StreamSink,
                                     public std::enable_shared_from_this<ObservedSink> {
 public:
  ObservedSink(ObservedClient& client, std::shared_ptr<OpenWatch> open,
               std::shared_ptr<StreamSink> to)
      : client_(client), open_(std::move(open)), to_(std::move(to)) {}

  void Keep(std::unique_ptr<Stream> stream) { stream_ = std::move(stream); }
  // The cache has destroyed its stream.
  void Drop() {
    open_->over = true;
    stream_.reset();
    to_.reset();
  }
  // Ends it from this side, later.
  void EndLater(absl::Status why) {
    client_.loop().Post([self = shared_from_this(), why = std::move(why)] {
      if (self->open_->over) return;
      self->stream_.reset();
      self->OnClosed(why);
    });
  }

  Flow OnOpen(const HttpResponse& head) override {
    if (to_ == nullptr) return Flow::kCancel;
    if (client_.muted_) return Flow::kContinue;
    open_->accepted = true;
    client_.Note(open_->scope, Answer::kAllowed);
    return Passed(std::shared_ptr(to_)->OnOpen(head));
  }
  Flow OnData(std::string_view bytes) override {
    if (to_ == nullptr) return Flow::kCancel;
    if (client_.muted_) return Flow::kContinue;
    constexpr std::string_view kEnd = "initial-events-end";
    open_->tail.append(bytes);
    if (open_->tail.find(kEnd) != std::string::npos) open_->complete = true;
    if (open_->tail.size() > kEnd.size()) {
      open_->tail.erase(0, open_->tail.size() - kEnd.size());
    }
    return Passed(std::shared_ptr(to_)->OnData(bytes));
  }
  void OnClosed(absl::Status status) override {
    if (to_ == nullptr) return;
    // A renewal that is denied leads to reviews, and only these deny.
    const bool denied = absl::IsPermissionDenied(status) && !open_->renews;
    AccessLedger& ledger = client_.ledger_;
    const std::string component(client_.component());
    Loop& loop = client_.loop();
    if (denied) ledger.NoteDeniedStream(component, open_->scope, loop.clock().TimeNow());
    open_->over = true;
    const auto to = std::move(to_);
    to->OnClosed(std::move(status));
    if (!denied) return;
    loop.Post([&ledger, component, scope = open_->scope] { ledger.EndProcess(component, scope); });
  }

 private:
  Flow Passed(Flow flow) {
    if (flow == Flow::kCancel) open_->over = true;
    return flow;
  }

  ObservedClient& client_;
  const std::shared_ptr<OpenWatch> open_;
  std::shared_ptr<StreamSink> to_;  // null: over
  std::unique_ptr<Stream> stream_;
};

// The cache's stream.
class ObservedClient::Handle : public Stream {
 public:
  explicit Handle(std::shared_ptr<ObservedSink> sink) : sink_(std::move(sink)) {}
  ~Handle() override { sink_->Drop(); }

 private:
  const std::shared_ptr<ObservedSink> sink_;
};

ObservedClient::ObservedClient(RestClient& inner, AccessLedger& ledger, int reviews)
    : inner_(inner), ledger_(ledger), reviews_(reviews) {}

ObservedClient::~ObservedClient() = default;

const std::vector<std::shared_ptr<ObservedClient::OpenWatch>>& ObservedClient::open_watches() {
  std::erase_if(open_, [](const auto& open) { return open->over; });
  return open_;
}

void ObservedClient::Note(const WatchScope& scope, Answer answer) {
  ledger_.Note(std::string(component()), scope, answer, loop().clock().TimeNow());
}

void ObservedClient::Revoke() {
  revoked_ = true;
  EndWatches(absl::UnauthenticatedError("401"));
}

void ObservedClient::SetMuted(bool muted) {
  muted_ = muted;
  if (!muted) EndWatches(absl::UnavailableError("reset"));
}

void ObservedClient::EndWatches(const absl::Status& why) {
  for (const auto& weak : sinks_) {
    if (const auto sink = weak.lock()) sink->EndLater(why);
  }
}

RestClient::Done ObservedClient::ObserveReview(const std::string& body, std::stop_token stop,
                                               Done done) {
  const auto review = ParseJson(body);
  const Json::Value attributes = (*review)["spec"]["resourceAttributes"];
  WatchScope scope = {attributes["namespace"].asString(), attributes["name"].asString()};
  if (const auto found = reviewed_.find(scope); found != reviewed_.end()) scope = found->second;
  auto& last = rounds_[scope];
  // If there is a review for list, it is the first one of a round.
  if (reviews_ == 1 || attributes["verb"].asString() == "list") {
    ledger_.Ask(std::string(component()), scope, loop().clock().TimeNow());
    last = std::make_shared<Round>(Round{.scope = scope});
  }
  return [this, round = last, stop = std::move(stop),
          done = std::move(done)](absl::StatusOr<HttpResponse> response) mutable {
    ++round->answers;
    if (stop.stop_requested()) {
      round->answers = -reviews_;  // the check was given up, and counts for nothing
    } else if (response.ok()) {
      const auto answer = ParseJson(response->body);
      const bool allowed = (*answer)["status"]["allowed"].asBool();
      round->allowed += allowed;
      round->denied = round->denied || !allowed;
    }
    if (round->answers == reviews_ && round->denied) Note(round->scope, Answer::kDenied);
    if (round->allowed == reviews_) Note(round->scope, Answer::kAllowed);
    std::move(done)(std::move(response));
  };
}

void ObservedClient::Send(const CallContext& context, RestRequest request, Done done) {
  if (on_send_) on_send_();
  if (revoked_) {
    loop().Post([done = std::move(done)]() mutable { std::move(done)(NoToken()); });
    return;
  }
  ++sent_;
  if (request.target.ends_with("selfsubjectaccessreviews")) {
    done = ObserveReview(request.body, context.stop, std::move(done));
  } else if (const auto scope = ScopeOfTarget(request.target)) {
    ledger_.Ask(std::string(component()), *scope, loop().clock().TimeNow());
    done = [this, scope = *scope,
            done = std::move(done)](absl::StatusOr<HttpResponse> response) mutable {
      if (absl::IsPermissionDenied(response.status())) Note(scope, Answer::kDenied);
      std::move(done)(std::move(response));
    };
  }
  const auto call = std::make_shared<Call>(std::move(done), request.body_sink);
  if (request.body_sink != nullptr) request.body_sink = call;
  // If nobody answers, only the deadline ends it.
  std::erase_if(calls_, [](const auto& earlier) { return earlier->over(); });
  calls_.push_back(call);
  call->Start(loop(), context.deadline);
  inner_.Send(context, std::move(request), [this, call](absl::StatusOr<HttpResponse> response) {
    if (!muted_) call->End(std::move(response));
  });
}

std::unique_ptr<Stream> ObservedClient::Watch(RestRequest request,
                                              std::shared_ptr<StreamSink> sink) {
  if (on_send_) on_send_();
  auto open = std::make_shared<OpenWatch>();
  open->scope = ScopeOfTarget(request.target).value_or(WatchScope());
  open->renews = QueryOf(request.target, "timeoutSeconds") == "1";
  open->initial = QueryOf(request.target, "sendInitialEvents") == "true";
  open_watches();  // forgets those that are over
  open_.push_back(open);
  std::erase_if(sinks_, [](const auto& weak) { return weak.expired(); });
  const auto observed = std::make_shared<ObservedSink>(*this, open, std::move(sink));
  sinks_.push_back(observed);
  if (revoked_) {
    observed->EndLater(NoToken());
    return std::make_unique<Handle>(observed);
  }
  ++sent_;
  if (!open->renews) {
    ledger_.Ask(std::string(component()), open->scope, loop().clock().TimeNow());
  }
  observed->Keep(inner_.Watch(std::move(request), observed));
  return std::make_unique<Handle>(observed);
}

}  // namespace mandate::model
