// Sends the requests of one identity, each with its credential.
#pragma once

#include <cstddef>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "manager/client/client_call.h"
#include "manager/client/client_metrics.h"
#include "manager/client/client_options.h"
#include "manager/client/guard.h"
#include "manager/client/reported_warnings.h"
#include "manager/client/rest_client.h"
#include "manager/client/watch_session.h"
#include "manager/core/weak_self.h"
#include "manager/transport/transport.h"

namespace mandate {

// Every request carries the identity's own token, and is sent only with one. A 401 drops that token
// and goes to the caller (kube-controller-manager's rule: no replay); it also cancels the watches
// that were opened with that token or an older one, as the server checks them only when they open.
// Loop thread only.
class AuthLayer : public CallLayer, private WatchSession::Owner {
 public:
  // The three outlive this.
  AuthLayer(const ClientOptions& options, ClientMetrics& metrics, const Guard& guard)
      : options_(options),
        metrics_(metrics),
        guard_(guard),
        warnings_(options.max_warnings_remembered) {}
  // Open watches end with kCancelled, later on the loop.
  ~AuthLayer() override;

  // Answers other than 2xx are errors (response_error.h).
  void Send(const ClientCallPtr& call, Done done) override;
  std::unique_ptr<Stream> Watch(RestRequest request, std::shared_ptr<StreamSink> sink);

 private:
  using TokenPtr = std::shared_ptr<const Token>;

  void OnWatchResponse(const HttpResponse& head) override { NoteAnswer(head, "GET"); }
  void OnWatchRejected(const WatchSession& session, const absl::Status& error) override;
  void OnWatchEnded(WatchSession* session) override;

  // Calls `then` with a token, or with null when the credential is a certificate.
  void WithToken(const CallContext& context,
                 absl::AnyInvocable<void(absl::StatusOr<TokenPtr>)> then);
  HttpRequest Signed(const RestRequest& request, const Token* token,
                     const TraceContext& trace = {}) const;
  absl::StatusOr<HttpResponse> Checked(const RestRequest& request, const TokenPtr& token,
                                       absl::StatusOr<HttpResponse> response);
  // Closes every open watch. Each sink gets `reason` in a later task of the loop.
  void CancelWatches(const absl::Status& reason);
  void NoteRbacWrite(const RestRequest& request);
  void OnError(const TokenPtr& token, std::string_view method, std::string_view target,
               const absl::Status& error);
  // A 401, or a 403 as system:anonymous.
  void OnUnauthenticated(const TokenPtr& token, std::string_view target, const absl::Status& error);
  // The same, and the API server itself has rejected the credential.
  void OnCredentialLost(const Token* token, const absl::Status& error);
  void NoteAttempt(const ClientCall& call, absl::Time sent_at,
                   const absl::StatusOr<HttpResponse>& response);
  void NoteAnswer(const HttpResponse& response, const std::string& method);

  const ClientOptions& options_;
  ClientMetrics& metrics_;
  const Guard& guard_;
  ReportedWarnings warnings_;
  std::set<WatchSession*> watches_;
  bool asks_about_credential_ = false;
  WeakSelf weak_;
};

}  // namespace mandate
