// A request's URL, with the address to connect to kept apart from the name to verify.
#pragma once

#include <string>
#include <string_view>

#include "manager/transport/transport.h"

namespace mandate {

struct RequestUrl {
  std::string url;
  // Set only when the endpoint overrides its name. The URL then has that name; these hold the
  // address to connect to (as CURLOPT_CONNECT_TO takes it) and the Host header.
  std::string connect_to;
  std::string host;
};

// `request` has passed CheckRequest().
RequestUrl UrlOf(const HttpRequest& request);

// `url` for a message: without a user and password.
std::string WithoutUser(std::string_view url);

}  // namespace mandate
