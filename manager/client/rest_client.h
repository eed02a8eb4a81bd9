// One component's way to one cluster: every request carries its token, its user agent, and has
// passed its mandate's guard. Typed calls (client.h), reflectors and reviews all go through here.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "manager/client/own_writes.h"
#include "manager/core/call_context.h"
#include "manager/core/executor.h"
#include "manager/object/kind.h"
#include "manager/transport/transport.h"

namespace mandate {

// One request to the Kubernetes API, before it has an identity.
struct RestRequest {
  std::string method;  // "GET"
  std::string target;  // path and query, built by ResourceTarget()
  std::string body;    // empty: none
  std::string content_type = "application/json";
  std::string accept = "application/json";
  // Whether sending it twice does no harm: it is then sent again after 5xx with Retry-After and
  // connections that failed, too (retry_policy.h). GET always is.
  bool idempotent = false;
  // Send() only; HttpRequest::body_sink.
  std::shared_ptr<BodySink> body_sink = nullptr;

  // "GET /api/v1/pods?limit=500&continue=***"; for messages. What they say reaches /readyz and the
  // log, and the token of a list has the key of an object, which is a tenant's.
  std::string ToString() const;
};

// "/apis/rbac.authorization.k8s.io/v1/namespaces/foo/rolebindings/bar/status?x=y", each part
// percent-encoded; `key.ns` empty: cluster scope or all namespaces; `key.name` empty: the list.
std::string ResourceTarget(const KindInfo& kind, const ObjectKey& key,
                           std::string_view subresource = "",
                           const std::vector<std::pair<std::string, std::string>>& query = {});

// Errors: kPermissionDenied with the marker that would allow it, when the guard rejects the request
// (nothing was sent); otherwise the server's metav1.Status (object/api_error.h) for HTTP codes
// other than 2xx; kUnauthenticated also for a 403 that names system:anonymous; kFailedPrecondition
// when the component has no identity (its ServiceAccount or base's grant is missing); the
// transport's. RetryAfter() of the last answer stays on the error. WasNotSent() (core/not_sent.h)
// and IsOutcomeUnknown() (retry_policy.h) report whether the server may have acted on a failed
// write.
class RestClient {
 public:
  using Done = absl::AnyInvocable<void(absl::StatusOr<HttpResponse>) &&>;
  virtual ~RestClient() = default;

  // Sends the request, from any thread. `done` runs on the loop exactly once, within `context`.
  virtual void Send(const CallContext& context, RestRequest request, Done done) = 0;

  // The same, blocking the calling thread; not on the loop.
  absl::StatusOr<HttpResponse> Do(const CallContext& context, RestRequest request);

  // Opens a watch as this component. Loop thread only. The sink gets data only if the answer is
  // 2xx. For every other answer, and if the watch is rejected before it is sent, the sink gets
  // OnClosed() with the status that Send() would return.
  [[nodiscard]] virtual std::unique_ptr<Stream> Watch(RestRequest request,
                                                      std::shared_ptr<StreamSink> sink) = 0;

  // "scope-instance"; for metrics, logs and messages.
  virtual std::string_view component() const = 0;
  virtual Loop& loop() = 0;

  // The writes of the component's typed calls, for its view of the cache.
  OwnWrites& own_writes() { return own_writes_; }

 private:
  OwnWrites own_writes_;
};

}  // namespace mandate
