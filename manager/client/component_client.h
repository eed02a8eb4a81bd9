// The RestClient of one identity: token, user agent, guard, retries, watches.
#ifndef MANAGER_CLIENT_COMPONENT_CLIENT_H_
#define MANAGER_CLIENT_COMPONENT_CLIENT_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "manager/client/answer_budget.h"
#include "manager/client/client_metrics.h"
#include "manager/client/guard.h"
#include "manager/client/rest_client.h"
#include "manager/client/seen_warnings.h"
#include "manager/client/watch_session.h"
#include "manager/core/backoff.h"
#include "manager/core/executor.h"
#include "manager/core/log.h"
#include "manager/core/metrics.h"
#include "manager/core/weak_self.h"
#include "manager/identity/identity.h"
#include "manager/rbac/mandate.h"
#include "manager/transport/transport.h"

namespace mandate {

// Every request carries the identity's own token, and is sent only with one. A 401 drops that token
// and goes to the caller (kube-controller-manager's rule: no replay); it also cancels the watches
// that were opened with that token or an older one, as the server checks them only when they open.
//
// Send() and Do() from any thread; everything else, also construction's end, on the loop thread.
class ComponentClient : public RestClient, private WatchSession::Owner {
 public:
  struct Options {
    Loop* loop = nullptr;
    Transport* transport = nullptr;
    const Identity* identity = nullptr;      // the three outlive the client
    const rbac::Mandate* mandate = nullptr;  // of the same component; a constant of the program
    GuardMode guard = GuardMode::kEnforce;
    absl::Duration default_timeout = absl::Minutes(1);  // of contexts without a deadline
    absl::Duration token_timeout = absl::Seconds(30);   // how long a watch waits for a token
    int max_attempts = 5;  // of requests that may be sent again (retry_policy.h)
    Backoff::Options backoff{.initial = absl::Milliseconds(200), .max = absl::Seconds(5)};
    // A longer Retry-After than this goes to the caller with the error, at once: a call that waits
    // holds one of max_in_flight.
    absl::Duration max_retry_after = absl::Seconds(30);
    size_t max_in_flight = 64;  // more calls wait their turn
    size_t max_queued = 10'000;
    size_t max_watches = 10'000;
    size_t max_error_body = 64 << 10;  // of a watch that is refused
    // Of the answers that are being received: a call whose answer exceeds the bound waits for its
    // turn. Answers with a sink of the caller's do not count.
    AnswerBudget::Options answers = {};
    size_t max_warnings_remembered = 1000;
    uint64_t seed = 0;           // of the jitter
    Metrics* metrics = nullptr;  // may be null; outlives the client
    // A line for each attempt of a call, with -v=5.
    Logger log = {};
    // The text of each Warning header that was not reported before, on the loop.
    std::function<void(std::string_view)> on_warning = {};
    // What GuardMode::kWarn lets through; from any thread.
    std::function<void(const absl::Status&)> on_undeclared = {};
    // The server has answered 403 to what Guard::IsOwed; on the loop.
    std::function<void()> on_forbidden = {};
  };

  // kInvalidArgument for a missing part, or a mandate that is another component's.
  static absl::StatusOr<std::unique_ptr<ComponentClient>> Create(Options options);
  // Calls and watches that are open end with kCancelled, later on the loop.
  ~ComponentClient() override;

  void Send(const CallContext& context, RestRequest request, Done done) override;
  [[nodiscard]] std::unique_ptr<Stream> Watch(RestRequest request,
                                              std::shared_ptr<StreamSink> sink) override;
  std::string_view component() const override { return options_.identity->name(); }
  Loop& loop() override { return *options_.loop; }

  // Ends every open watch; their sinks get `reason`, later.
  void CancelWatches(const absl::Status& reason);

  size_t in_flight() const { return in_flight_; }
  size_t queued() const { return queue_.size() + postponed_.size(); }
  size_t watches() const { return watches_.size(); }

 private:
  struct Call;
  class WatchHandle;
  using CallPtr = std::shared_ptr<Call>;

  explicit ComponentClient(Options options);

  absl::Time Now() const { return options_.loop->clock().TimeNow(); }
  void OnWatchAnswered(const HttpResponse& head) override;
  void OnWatchRefused(const WatchSession& session, const absl::Status& error) override;
  void OnWatchEnded(WatchSession* session) override;

  void Begin(CallPtr call);
  void StartQueued();
  void Attempt(CallPtr call);
  void SendAttempt(CallPtr call, std::shared_ptr<const Token> token);
  void OnAnswer(CallPtr call, std::shared_ptr<const Token> token,
                absl::StatusOr<HttpResponse> answer);
  bool RetryLater(const CallPtr& call, int code, const absl::Status& error);
  // Takes the call out of flight until there is room for its answer.
  void Postpone(const CallPtr& call);
  void Finish(const CallPtr& call, absl::StatusOr<HttpResponse> result);
  HttpRequest Signed(const RestRequest& request, const Token* token) const;
  // A 401, or a 403 as system:anonymous. `token` is null when the credential is a certificate.
  void OnUnauthenticated(std::shared_ptr<const Token> token, std::string_view target,
                         const absl::Status& error);
  // The same, and the API server itself has rejected the credential.
  void OnCredentialLost(const Token* token, const absl::Status& status);
  void OnForbidden(std::string_view method, std::string_view target);
  void NoteAttempt(const Call& call, const absl::StatusOr<HttpResponse>& answer);
  void Note(const HttpResponse& response, const std::string& method);
  void ReportLevels();
  absl::Status Annotate(const absl::Status& status, const RestRequest& request) const;
  // `error` as the call's result: says what is known about what the server did.
  static absl::Status Marked(const Call& call, absl::Status error);

  const Options options_;
  const Guard guard_;
  std::mt19937_64 random_;
  std::set<CallPtr> calls_;
  std::deque<CallPtr> queue_;
  std::deque<CallPtr> postponed_;
  size_t in_flight_ = 0;
  std::set<WatchSession*> watches_;
  bool asks_about_credential_ = false;
  ClientMetrics metrics_;
  const std::shared_ptr<AnswerBudget> answers_;
  SeenWarnings warnings_;
  WeakSelf weak_;
};

}  // namespace mandate

#endif  // MANAGER_CLIENT_COMPONENT_CLIENT_H_
