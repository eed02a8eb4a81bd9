// What libcurl's errors mean to the users of a Transport.
#ifndef MANAGER_TRANSPORT_CURL_ERROR_H_
#define MANAGER_TRANSPORT_CURL_ERROR_H_

#include <curl/curl.h>

#include <string_view>

#include "absl/status/status.h"

namespace mandate {

// Never OK, except for CURLE_OK. `detail` is libcurl's error buffer, may be empty.
absl::Status StatusOfCurl(CURLcode code, std::string_view server, std::string_view detail);

// Whether the connection broke, rather than the request or the answer.
bool IsConnectionError(CURLcode code);

}  // namespace mandate

#endif  // MANAGER_TRANSPORT_CURL_ERROR_H_
