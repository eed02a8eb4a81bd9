// Opens a listening socket for an address in text form.
#ifndef MANAGER_SERVING_LISTENER_H_
#define MANAGER_SERVING_LISTENER_H_

#include <boost/asio/ip/tcp.hpp>
#include <string>

#include "absl/status/status.h"

namespace mandate {

// The steps whose result depends on the system's configuration, for tests to replace.
class ListenSystem {
 public:
  virtual ~ListenSystem() = default;
  virtual boost::system::error_code Open(boost::asio::ip::tcp::acceptor& acceptor,
                                         const boost::asio::ip::tcp& protocol);
  virtual boost::system::error_code Bind(boost::asio::ip::tcp::acceptor& acceptor,
                                         const boost::asio::ip::tcp::endpoint& endpoint);
};

// Makes `acceptor` listen on `address` (listen_address.h). ":8081" is every interface with IPv6 and
// IPv4, whatever net.ipv6.bindv6only says, and IPv4 alone where the system has no IPv6
// (ipv6.disable=1). kInvalidArgument: the text is not an address. kUnavailable: the message has the
// reason and the next step.
absl::Status Listen(const std::string& address, boost::asio::ip::tcp::acceptor& acceptor,
                    ListenSystem& system);

}  // namespace mandate

#endif  // MANAGER_SERVING_LISTENER_H_
