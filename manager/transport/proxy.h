// Finds the proxy that the environment variables name for a server.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace mandate {

// "http://HOST:PORT" as Endpoint::proxy takes it; empty: no proxy. `text` may lack the scheme.
// kUnimplemented: another scheme, or a user and password; kInvalidArgument: not an address. The
// message starts with `source` and does not repeat what may be a password.
absl::StatusOr<std::string> ParseProxy(std::string_view text, std::string_view source);

// Follows the rules of client-go's programs (golang.org/x/net/http/httpproxy): HTTPS_PROXY or
// https_proxy, unless NO_PROXY or no_proxy covers the server. An entry is "*", an IP address, a
// network in CIDR notation, a domain with all its subdomains, or, if it starts with a dot, the
// subdomains only; each may end in a port. localhost and loopback addresses never use a proxy.
// `server` is an Endpoint's; `environment` returns nullopt for a variable that is not set. Errors:
// those of ParseProxy().
absl::StatusOr<std::string> ProxyFromEnvironment(
    std::string_view server,
    const std::function<std::optional<std::string>(const std::string& name)>& environment);

}  // namespace mandate
