// Which proxy the environment names for a server.
#ifndef MANAGER_TRANSPORT_PROXY_H_
#define MANAGER_TRANSPORT_PROXY_H_

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace mandate {

// "http://HOST:PORT" as Endpoint::proxy takes it; empty: none. `text` may lack the scheme.
// kUnimplemented: another scheme, or a user and password; kInvalidArgument: it is no address. The
// message starts with `source`, and does not repeat what may be a password.
absl::StatusOr<std::string> ParseProxy(std::string_view text, std::string_view source);

// By the rules that client-go's programs follow (golang.org/x/net/http/httpproxy): HTTPS_PROXY or
// https_proxy, unless NO_PROXY or no_proxy names the server: "*", an IP address, a network in CIDR
// notation, a domain with all below it, or, when it starts with a dot, only what is below it; each
// may end in a port. Nobody asks a proxy for localhost or a loopback address. `server` is an
// Endpoint's; `environment` returns nullopt for what is not set. Errors: ParseProxy's.
absl::StatusOr<std::string> ProxyFromEnvironment(
    std::string_view server,
    const std::function<std::optional<std::string>(const std::string& name)>& environment);

}  // namespace mandate

#endif  // MANAGER_TRANSPORT_PROXY_H_
