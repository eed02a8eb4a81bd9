// Many HTTP requests at once to one API server, with the administrator's client certificate: over
// the conformance suite's client (testing/conformance/http.h).
#ifndef TESTING_RBAC_FIDELITY_HTTP_H_
#define TESTING_RBAC_FIDELITY_HTTP_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace mandate::fidelity {

struct HttpRequest {
  std::string method = "GET";
  std::string target;  // sent as it is
  std::string body;
  std::string content_type;
  std::string accept = "application/json";
  std::string impersonate;               // a user; empty: nobody
  std::vector<std::string> groups = {};  // of that user
};

struct HttpResponse {
  int status = 0;
  std::string body;
};

// For one thread.
class HttpClient {
 public:
  // InvalidArgument for a kubeconfig that cannot be read or whose current context lacks a client
  // certificate.
  static absl::StatusOr<std::unique_ptr<HttpClient>> Create(const std::string& kubeconfig);
  ~HttpClient();

  // The responses in the order of the requests, at most `at_once` of which are under way. Fails
  // when a response does not come in time.
  absl::StatusOr<std::vector<HttpResponse>> Send(const std::vector<HttpRequest>& requests,
                                                 size_t at_once = 16);
  absl::StatusOr<HttpResponse> Send(HttpRequest request);

 private:
  struct Impl;
  explicit HttpClient(std::unique_ptr<Impl> impl);
  const std::unique_ptr<Impl> impl_;
};

}  // namespace mandate::fidelity

#endif  // TESTING_RBAC_FIDELITY_HTTP_H_
