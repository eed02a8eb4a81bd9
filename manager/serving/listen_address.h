// Addresses to listen on: "127.0.0.1:8081", "[::1]:8081", "localhost:8081"; ":8081" is every
// interface.
#ifndef MANAGER_SERVING_LISTEN_ADDRESS_H_
#define MANAGER_SERVING_LISTEN_ADDRESS_H_

#include <boost/asio/ip/tcp.hpp>
#include <string>

#include "absl/status/statusor.h"

namespace mandate {

// kInvalidArgument, with an example, for text that is not an address.
absl::StatusOr<boost::asio::ip::tcp::endpoint> ParseListenAddress(const std::string& address);

}  // namespace mandate

#endif  // MANAGER_SERVING_LISTEN_ADDRESS_H_
