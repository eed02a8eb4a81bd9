// The TLS settings of one transfer.
#ifndef MANAGER_TRANSPORT_TLS_H_
#define MANAGER_TRANSPORT_TLS_H_

#include <curl/curl.h>

#include "manager/transport/transport.h"

namespace mandate {

// TLS 1.2 or newer. The server is always verified against the endpoint's CA and name. The client
// certificate is used only if it is the request's credential. `request` outlives the handle:
// nothing is copied, keys in particular. CURLE_OK or CURLE_OUT_OF_MEMORY.
CURLcode ApplyTls(CURL* easy, const HttpRequest& request);

}  // namespace mandate

#endif  // MANAGER_TRANSPORT_TLS_H_
