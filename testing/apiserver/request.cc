#include "testing/apiserver/request.h"

#include "manager/core/percent.h"
#include "manager/core/status_macros.h"
#include "manager/rbac/request_info.h"

namespace mandate::apiserver {

std::optional<std::string_view> Request::Header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (key == name) return value;
  }
  return std::nullopt;
}

std::vector<std::string> Request::QueryAll(std::string_view name) const {
  std::vector<std::string> values;
  for (auto& [key, value] : ParseQuery(query)) {
    if (key == name) values.push_back(std::move(value));
  }
  return values;
}

std::optional<std::string> Request::Query(std::string_view name) const {
  std::vector<std::string> values = QueryAll(name);
  if (values.empty()) return std::nullopt;
  return std::move(values.front());
}

absl::StatusOr<Request> Request::Parse(std::string method, std::string target, Headers headers,
                                       std::string body) {
  Request request;
  ASSIGN_OR_RETURN(request.attributes, rbac::AttributesOf(method, target));
  const size_t question = target.find('?');
  const auto path = PercentDecode(target.substr(0, question), /*plus=*/false);
  if (!path) return absl::InvalidArgumentError("the path is escaped wrongly");
  request.path = *path;
  if (question != target.npos) request.query = target.substr(question + 1);
  request.method = std::move(method);
  request.target = std::move(target);
  request.headers = std::move(headers);
  request.body = std::move(body);
  return request;
}

}  // namespace mandate::apiserver
