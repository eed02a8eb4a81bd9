// Asks Kubernetes whether an HTTP client may send its request.
//
// +mandate:component:name=metrics-auth,value=metrics.enabled,events=none
// +kubebuilder:rbac:groups=authentication.k8s.io,resources=tokenreviews,verbs=create
// +kubebuilder:rbac:groups=authorization.k8s.io,resources=subjectaccessreviews,verbs=create
#ifndef MANAGER_TELEMETRY_ACCESS_REVIEWER_H_
#define MANAGER_TELEMETRY_ACCESS_REVIEWER_H_

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

// A TokenReview says who sent the token, and a SubjectAccessReview whether that user has the verb
// on the path, a non-resource URL; under the identity of the component metrics-auth. The numbers
// are controller-runtime's (pkg/metrics/filters), the answers too, but for one: a token that the
// server rejects is 401 here, and 500 there.
//
// Thread-safe. The destructor cancels and answers the reviews that are under way.
class AccessReviewer {
 public:
  struct Options {
    RestClient* client = nullptr;  // of the component metrics-auth
    Executor* workers = nullptr;   // reviews block one of its threads each
    Metrics* metrics = nullptr;    // the three outlive this, and the workers their tasks
    Logger log = {};
    // Of both reviews of one request together.
    absl::Duration timeout = absl::Seconds(10);
    // How long an answer is good: who a token is, or that it is nobody; that a user may; that it
    // may not.
    absl::Duration token_ttl = absl::Minutes(1);
    absl::Duration allowed_ttl = absl::Minutes(5);
    absl::Duration denied_ttl = absl::Seconds(30);
    size_t max_answers = 1024;  // of each sort
    size_t max_waiting = 64;    // requests for a worker; beyond, they are 503
  };

  // kInvalidArgument when the client is another component's.
  static absl::StatusOr<std::unique_ptr<AccessReviewer>> Create(const Options& options);
  ~AccessReviewer();

  // No answer: the request may be served. 401: no token, or an unknown one. 403: the user is
  // denied. 500: there was no review. 503: too many wait.
  void Judge(const JudgedRequest& request,
             std::function<void(std::optional<ServedResponse>)> answer);

 private:
  class Core;
  explicit AccessReviewer(std::shared_ptr<Core> core);
  const std::shared_ptr<Core> core_;  // shared with the reviews that run
};

}  // namespace mandate

#endif  // MANAGER_TELEMETRY_ACCESS_REVIEWER_H_
