#include "manager/identity/identity.h"

namespace mandate {

HttpRequest Identity::Request(const Token* token, std::string method, std::string target) const {
  Credential credential = EndpointCertificate{};
  std::shared_ptr<const Endpoint> endpoint = parts_.endpoint;
  if (token != nullptr && token->certificate_endpoint != nullptr) {
    endpoint = token->certificate_endpoint;
  } else if (parts_.tokens != nullptr) {
    // A missing token becomes an empty one, which every transport rejects. No other credential is
    // ever used.
    credential = BearerToken{token == nullptr ? nullptr : token->value};
  }
  HttpRequest request(std::move(endpoint), std::move(credential), std::move(method),
                      std::move(target));
  request.user_agent = parts_.user_agent;
  request.headers = parts_.headers;
  return request;
}

}  // namespace mandate
