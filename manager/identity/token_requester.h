// Requests tokens of a component's ServiceAccount as base (TokenRequest API).
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "manager/core/executor.h"
#include "manager/core/weak_self.h"
#include "manager/kubeconfig/token_fetcher.h"
#include "manager/transport/transport.h"

namespace mandate {

// POST /api/v1/namespaces/NS/serviceaccounts/NAME/token, once per Fetch(), with base's credential.
// Every response becomes one FetchOutcome (docs/identity.md). A token's life is the response's
// spec.expirationSeconds, counted on the monotonic clock from before the request was sent, so that
// an incorrect wall clock does not matter. Loop thread only.
class TokenRequester : public TokenFetcher {
 public:
  struct Options {
    Loop* loop = nullptr;
    Transport* transport = nullptr;
    // Null: base uses the endpoint's client certificate.
    TokenSource* base = nullptr;  // the three outlive the requester
    std::shared_ptr<const Endpoint> endpoint = {};
    std::string user_agent = {};  // base's
    std::string ns = {};
    std::string service_account = {};
    std::string base_service_account = "mandate-manager";  // base's ServiceAccount; for messages
    absl::Duration expiration = absl::Hours(1);
    std::vector<std::string> audiences = {};  // empty: the API server's default
    // A Secret of `ns` whose deletion revokes the tokens; empty: they depend on the ServiceAccount
    // alone.
    std::string bound_secret = {};
    // Creates a missing ServiceAccount, and its namespace if that is missing.
    bool create_service_account = false;
  };

  // kInvalidArgument for an expiration that the API server rejects (less than 10 min) or silently
  // extends to a year (3607 s).
  static absl::StatusOr<std::unique_ptr<TokenRequester>> Create(Options options);
  ~TokenRequester() override = default;

  void Fetch(const CallContext& context, Done done) override;

 private:
  struct Attempt;
  using Next = absl::AnyInvocable<void(absl::StatusOr<HttpResponse>) &&>;

  explicit TokenRequester(Options options);

  void WithCredential(std::shared_ptr<Attempt> attempt);
  void Post(std::shared_ptr<Attempt> attempt, std::string target, std::string body, Next next);
  void RequestToken(std::shared_ptr<Attempt> attempt);
  void OnToken(std::shared_ptr<Attempt> attempt, absl::StatusOr<HttpResponse> response);
  void CreateServiceAccount(std::shared_ptr<Attempt> attempt);
  void OnServiceAccount(std::shared_ptr<Attempt> attempt, absl::StatusOr<HttpResponse> response);
  FetchResult Issue(const Attempt& attempt, HttpResponse response) const;
  // The result of a response other than 2xx; `doing` is "request a token of".
  FetchResult FailedResponse(const Attempt& attempt, const HttpResponse& response,
                             std::string_view doing);
  FetchResult Unreachable(const absl::Status& status, std::string_view doing) const;
  std::string Subject() const;

  const Options options_;
  WeakSelf weak_;
};

}  // namespace mandate
