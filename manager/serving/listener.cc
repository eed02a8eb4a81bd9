#include "manager/serving/listener.h"

#include <boost/asio/ip/v6_only.hpp>
#include <charconv>

#include "manager/core/status_macros.h"
#include "manager/core/strings.h"

namespace mandate {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

error_code ListenOn(const tcp::endpoint& endpoint, tcp::acceptor& acceptor, ListenSystem& system) {
  error_code error = system.Open(acceptor, endpoint.protocol());
  if (!error) acceptor.set_option(asio::socket_base::reuse_address(true), error);
  // Only "::" serves both versions of IP; any other address has one version.
  if (!error && endpoint.address().is_v6() && endpoint.address().is_unspecified()) {
    acceptor.set_option(asio::ip::v6_only(false), error);
  }
  if (!error) error = system.Bind(acceptor, endpoint);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error) {
    error_code ignored;
    acceptor.close(ignored);
  }
  return error;
}

}  // namespace

absl::StatusOr<tcp::endpoint> ParseListenAddress(const std::string& address) {
  const auto invalid = [&] {
    return absl::InvalidArgumentError(AsAbsl(
        StrCat("\"", address,
               "\" is not a valid address to listen on; write IP:PORT, such as 127.0.0.1:8081")));
  };
  const size_t colon = address.rfind(':');
  if (colon == std::string::npos) return invalid();
  std::string host = address.substr(0, colon);
  if (host.size() >= 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  }
  uint16_t port = 0;
  const char* end = address.data() + address.size();
  const auto [rest, error] = std::from_chars(address.data() + colon + 1, end, port);
  if (error != std::errc() || rest != end) return invalid();
  if (host.empty()) return tcp::endpoint(tcp::v6(), port);
  if (host == "localhost") host = "127.0.0.1";
  boost::system::error_code failed;
  const auto ip = boost::asio::ip::make_address(host, failed);
  if (failed) return invalid();
  return tcp::endpoint(ip, port);
}

error_code ListenSystem::Open(tcp::acceptor& acceptor, const tcp& protocol) {
  error_code error;
  acceptor.open(protocol, error);
  return error;
}

error_code ListenSystem::Bind(tcp::acceptor& acceptor, const tcp::endpoint& endpoint) {
  error_code error;
  acceptor.bind(endpoint, error);
  return error;
}

absl::Status Listen(const std::string& address, tcp::acceptor& acceptor, ListenSystem& system) {
  ASSIGN_OR_RETURN(const tcp::endpoint endpoint, ParseListenAddress(address));
  error_code error = ListenOn(endpoint, acceptor, system);
  // If another process has the port, it has the port for IPv4, too, so there is no second try.
  if (error && error != asio::error::address_in_use && address.starts_with(':')) {
    error = ListenOn({tcp::v4(), endpoint.port()}, acceptor, system);
  }
  if (!error) return absl::OkStatus();
  return absl::UnavailableError(
      AsAbsl(StrCat("cannot listen on ", address, ": ", error.message(),
                    "; choose another address, or 127.0.0.1:0 for any free port")));
}

}  // namespace mandate
