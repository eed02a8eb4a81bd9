#include "testing/apiserver/admin_request.h"

#include <memory>
#include <utility>

#include "testing/apiserver/server_core.h"

namespace mandate::apiserver {

HttpRequest AdminRequest(std::string method, std::string target, std::string body,
                         std::string content_type) {
  static const auto& endpoint = *new std::shared_ptr<const Endpoint>([] {
    auto made = std::make_shared<Endpoint>();
    made->server = "https://double";
    made->ca_pem = "none";
    return made;
  }());
  static const auto& token =
      *new std::shared_ptr<const Secret>(std::make_shared<const Secret>(kAdminToken));
  HttpRequest request(endpoint, mandate::BearerToken{token}, std::move(method), std::move(target));
  request.user_agent = "kubectl";
  request.body = std::move(body);
  if (!request.body.empty()) request.content_type = std::move(content_type);
  return request;
}

}  // namespace mandate::apiserver
