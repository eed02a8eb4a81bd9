// One connection of HttpServer, plain or of TLS.
#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <cstdint>
#include <functional>
#include <memory>

#include "manager/serving/http_server.h"

namespace mandate {

// Exists as long as its server refers to it or an operation is in progress. On the server's thread
// only.
class HttpConnection : public std::enable_shared_from_this<HttpConnection> {
 public:
  // The server, which outlives its connections' work.
  struct Host {
    const HttpServer::Options& options;
    // Shared with access checks that may continue after the server was destroyed.
    std::shared_ptr<boost::asio::io_context> io;
    // Numbers the moments at which any connection began to wait for its client.
    uint64_t& turns;
    // Answers end their connections.
    const std::atomic<bool>& draining;
    std::function<ServedResponse(const ServedRequest&)> serve;
    std::function<void(const std::shared_ptr<HttpConnection>&)> forget;
  };

  // Without TLS if `tls` is null.
  static std::shared_ptr<HttpConnection> Make(const Host& host, boost::asio::ip::tcp::socket socket,
                                              std::shared_ptr<boost::asio::ssl::context> tls);
  virtual ~HttpConnection() = default;

  virtual void Start() = 0;
  // Closes the socket; operations in progress end with an error.
  virtual void Close() = 0;

  // The number of the moment at which the server began to wait for the client. The connection with
  // the lowest number has waited longest.
  uint64_t turn() const { return turn_; }
  // Whether its request waits for the access check, or for a handler that answers later.
  bool waits_for_us() const { return waits_for_us_; }

 protected:
  uint64_t turn_ = 0;
  bool waits_for_us_ = false;
};

}  // namespace mandate
