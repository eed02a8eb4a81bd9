// Requests with the same key may share a connection.
#pragma once

#include <string>

#include "manager/transport/transport.h"

namespace mandate {

// Two requests have the same key exactly when their connections have the same TLS identity on both
// ends: the server's address, the CA's bytes, the name to verify, the proxy, and the client
// certificate if the request uses one. Bearer tokens are not part of the key: a token authenticates
// a request, and many identities share a connection. A client certificate authenticates a
// connection, which no token ever uses.
//
// A SHA-256 digest of the fields and their sizes. `request` has passed CheckRequest().
std::string PoolKeyOf(const HttpRequest& request);

}  // namespace mandate
