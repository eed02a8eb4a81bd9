#include "manager/transport/pool_key.h"

#include <string_view>
#include <variant>
#include <vector>

#include "manager/core/sha256.h"
#include "manager/core/strings.h"

namespace mandate {

std::string PoolKeyOf(const HttpRequest& request) {
  const Endpoint& endpoint = *request.endpoint;
  std::vector<std::string_view> fields = {endpoint.server, endpoint.ca_pem,
                                          endpoint.tls_server_name, endpoint.proxy};
  if (std::holds_alternative<EndpointCertificate>(request.credential)) {
    fields.push_back(endpoint.client_certificate->certificate_pem);
    fields.push_back(endpoint.client_certificate->key_pem->Reveal());
  }
  std::string sizes;
  for (const std::string_view field : fields) StrAppend(&sizes, field.size(), " ");
  sizes += ":";
  fields.insert(fields.begin(), sizes);
  return Sha256(fields);
}

}  // namespace mandate
