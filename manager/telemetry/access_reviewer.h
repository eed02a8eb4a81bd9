// Asks Kubernetes whether an HTTP client may send its request.
//
// +mandate:component:name=metrics-auth,value=metrics.enabled,events=none
// +kubebuilder:rbac:groups=authentication.k8s.io,resources=tokenreviews,verbs=create
// +kubebuilder:rbac:groups=authorization.k8s.io,resources=subjectaccessreviews,verbs=create
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "manager/client/rest_client.h"
#include "manager/core/executor.h"
#include "manager/core/log.h"
#include "manager/core/metrics.h"
#include "manager/serving/http_server.h"
#include "manager/telemetry/mandates.h"

namespace mandate {

// A TokenReview returns the user of the token, and a SubjectAccessReview whether this user has the
// verb on the path, a non-resource URL. Both use the identity of the component metrics-auth. The
// defaults and the answers are those of controller-runtime (pkg/metrics/filters), with one
// exception: a token that the server rejects is a 401 here and a 500 there.
//
// Thread-safe. The destructor cancels and answers the reviews that are under way.
class AccessReviewer {
 public:
  struct Options {
    RestClient* client = nullptr;  // of the component metrics-auth
    Executor* workers = nullptr;   // each review blocks one of its threads
    Metrics* metrics = nullptr;    // all three outlive this; `workers` outlives its tasks
    Logger log = {};
    // The deadline of both reviews of a request together.
    absl::Duration timeout = absl::Seconds(10);
    // The lifetimes of answers: about a token, known or unknown; that a user is allowed; that a
    // user is denied.
    absl::Duration token_ttl = absl::Minutes(1);
    absl::Duration allowed_ttl = absl::Minutes(5);
    absl::Duration denied_ttl = absl::Seconds(30);
    size_t max_answers = 1024;  // of each kind
    size_t max_waiting = 64;    // requests that wait for a worker; more get a 503
  };

  // kInvalidArgument if the client belongs to another component.
  static absl::StatusOr<std::unique_ptr<AccessReviewer>> Create(const Options& options);
  ~AccessReviewer();

  // Nothing: the request may be served. 401: the token is missing or unknown. 403: the user is
  // denied. 500: the review failed. 503: too many requests wait.
  void Check(const AccessRequest& request,
             std::function<void(std::optional<ServedResponse>)> answer);

 private:
  class Core;
  explicit AccessReviewer(std::shared_ptr<Core> core);
  const std::shared_ptr<Core> core_;  // shared with the reviews that run
};

}  // namespace mandate
