// A request as a test sees it.
#ifndef MANAGER_TRANSPORT_TESTING_RECORDED_REQUEST_H_
#define MANAGER_TRANSPORT_TESTING_RECORDED_REQUEST_H_

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "manager/transport/transport.h"

namespace mandate {

struct RecordedRequest {
  RecordedRequest(absl::Time when, const HttpRequest& request, bool stream);

  // The value of the first header of this name, in any case; null: no such header.
  const std::string* Header(std::string_view name) const;

  absl::Time time;
  bool is_stream;
  std::shared_ptr<const Endpoint> endpoint;
  // The token in the clear, for tests. Nullopt: the endpoint's certificate authenticates the
  // request.
  std::optional<std::string> token;
  std::string method;
  std::string target;
  std::string user_agent;
  std::string accept;
  std::string content_type;
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;
};

}  // namespace mandate

#endif  // MANAGER_TRANSPORT_TESTING_RECORDED_REQUEST_H_
