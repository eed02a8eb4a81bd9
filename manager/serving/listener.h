// Listening sockets, and the addresses to listen on: "127.0.0.1:8081", "[::1]:8081",
// "localhost:8081"; ":8081" is every interface.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace mandate {

// kInvalidArgument, with an example, for text that is not an address.
absl::StatusOr<boost::asio::ip::tcp::endpoint> ParseListenAddress(const std::string& address);

// The steps whose result depends on the configuration of the system; tests replace them.
class ListenSystem {
 public:
  virtual ~ListenSystem() = default;
  virtual boost::system::error_code Open(boost::asio::ip::tcp::acceptor& acceptor,
                                         const boost::asio::ip::tcp& protocol);
  virtual boost::system::error_code Bind(boost::asio::ip::tcp::acceptor& acceptor,
                                         const boost::asio::ip::tcp::endpoint& endpoint);
};

// Makes `acceptor` listen on `address`. ":8081" is every interface with IPv6 and
// IPv4, whatever net.ipv6.bindv6only says, and IPv4 alone where the system has no IPv6
// (ipv6.disable=1). kInvalidArgument: not an address. kUnavailable: the reason, and the next step.
absl::Status Listen(const std::string& address, boost::asio::ip::tcp::acceptor& acceptor,
                    ListenSystem& system);

}  // namespace mandate
