#include "manager/identity/identity.h"

namespace mandate {

HttpRequest Identity::Request(const Token* token, std::string method, std::string target) const {
  Credential credential = EndpointCertificate{};
  // A missing token becomes an empty one, which every transport refuses: never another credential.
  if (parts_.tokens != nullptr) {
    credential = BearerToken{token == nullptr ? nullptr : token->value};
  }
  HttpRequest request(parts_.endpoint, std::move(credential), std::move(method), std::move(target));
  request.user_agent = parts_.user_agent;
  request.headers = parts_.headers;
  return request;
}

}  // namespace mandate
