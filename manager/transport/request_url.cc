#include "manager/transport/request_url.h"

#include <string_view>

#include "manager/core/strings.h"

namespace mandate {

RequestUrl UrlOf(const HttpRequest& request) {
  const Endpoint& endpoint = *request.endpoint;
  if (endpoint.tls_server_name.empty()) return {endpoint.server + request.target, "", ""};

  constexpr std::string_view kScheme = "https://";
  const std::string_view server = std::string_view(endpoint.server).substr(kScheme.size());
  const size_t path = server.find('/');
  const std::string_view authority = server.substr(0, path);
  const std::string_view prefix =
      path == std::string_view::npos ? std::string_view() : server.substr(path);
  // The last colon, unless it is inside an IPv6 address's brackets.
  const size_t colon = authority.rfind(':');
  const bool has_port =
      colon != std::string_view::npos && authority.find(']', colon) == std::string_view::npos;
  const std::string_view host = has_port ? authority.substr(0, colon) : authority;
  const std::string_view port = has_port ? authority.substr(colon + 1) : "443";
  const std::string& name = endpoint.tls_server_name;
  return {StrCat(kScheme, name, ":", port, prefix, request.target),
          StrCat(name, ":", port, ":", host, ":", port), std::string(authority)};
}

std::string WithoutUser(std::string_view url) {
  const size_t at = url.rfind('@');
  if (at == std::string_view::npos) return std::string(url);
  std::string_view scheme;
  for (const std::string_view known : {"https://", "http://"}) {
    if (url.starts_with(known)) scheme = known;
  }
  return StrCat(scheme, "***", url.substr(at));
}

}  // namespace mandate
