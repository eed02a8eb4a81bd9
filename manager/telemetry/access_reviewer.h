// Asks Kubernetes whether a client may make its request to this process.
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
// on the path, a non-resource URL; under the identity of the component metrics-auth. The limits and
// responses are those of controller-runtime (pkg/metrics/filters), with one exception: a token that
// the server rejects is 401 here, and 500 there.
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
    // How long answers are cached: the user of a token, or that it has none; that a user is
    // allowed; that it is denied.
    absl::Duration token_ttl = absl::Minutes(1);
    absl::Duration allowed_ttl = absl::Minutes(5);
    absl::Duration denied_ttl = absl::Seconds(30);
    size_t max_answers = 1024;  // of each sort
    size_t max_waiting = 64;    // requests for a worker; more get 503
  };

  // kInvalidArgument when the client is another component's.
  static absl::StatusOr<std::unique_ptr<AccessReviewer>> Create(const Options& options);
  ~AccessReviewer();

  // Without a response, the request may be served. 401: the token is missing or unknown. 403: the
  // user is denied. 500: the review failed. 503: too many requests wait.
  void Judge(const JudgedRequest& request,
             std::function<void(std::optional<ServedResponse>)> answer);

 private:
  class Core;
  explicit AccessReviewer(std::shared_ptr<Core> core);
  const std::shared_ptr<Core> core_;  // shared with the reviews that run
};

}  // namespace mandate

#endif  // MANAGER_TELEMETRY_ACCESS_REVIEWER_H_
