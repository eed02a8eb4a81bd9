// Translates libcurl's errors for the users of a Transport.
#pragma once

#include <curl/curl.h>

#include <string_view>

#include "absl/status/status.h"

namespace mandate {

// OK only for CURLE_OK. `detail` is the text of libcurl's error buffer; it may be empty.
absl::Status StatusOfCurl(CURLcode code, std::string_view server, std::string_view detail);

// Whether the connection failed, rather than the request or the response.
bool IsConnectionError(CURLcode code);

}  // namespace mandate
