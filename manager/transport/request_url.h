// A request's URL, with the endpoint's address and the name that its certificate must bear apart.
#ifndef MANAGER_TRANSPORT_REQUEST_URL_H_
#define MANAGER_TRANSPORT_REQUEST_URL_H_

#include <string>
#include <string_view>

#include "manager/transport/transport.h"

namespace mandate {

struct RequestUrl {
  std::string url;
  // Only when the endpoint overrides its name: the name stands in the URL then, and these say
  // where to connect (as CURLOPT_CONNECT_TO takes it) and what the Host header is.
  std::string connect_to;
  std::string host;
};

// `request` has passed CheckRequest().
RequestUrl UrlOf(const HttpRequest& request);

// `url` for a message: without the user and the password that it may hold.
std::string WithoutUser(std::string_view url);

}  // namespace mandate

#endif  // MANAGER_TRANSPORT_REQUEST_URL_H_
