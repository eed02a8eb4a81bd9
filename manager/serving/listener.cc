#include "manager/serving/listener.h"

#include <boost/asio/ip/v6_only.hpp>

#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/serving/listen_address.h"

namespace mandate {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

error_code ListenOn(const tcp::endpoint& endpoint, tcp::acceptor& acceptor, ListenSystem& system) {
  error_code error = system.Open(acceptor, endpoint.protocol());
  if (!error) acceptor.set_option(asio::socket_base::reuse_address(true), error);
  // Of "::" alone: any other address is of one version.
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
  // A process that has the port has it for IPv4 too.
  if (error && error != asio::error::address_in_use && address.starts_with(':')) {
    error = ListenOn({tcp::v4(), endpoint.port()}, acceptor, system);
  }
  if (!error) return absl::OkStatus();
  return absl::UnavailableError(
      AsAbsl(StrCat("cannot listen on ", address, ": ", error.message(),
                    "; choose another address, or 127.0.0.1:0 for any free port")));
}

}  // namespace mandate
