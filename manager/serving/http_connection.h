// One connection of HttpServer, with or without TLS.
#ifndef MANAGER_SERVING_HTTP_CONNECTION_H_
#define MANAGER_SERVING_HTTP_CONNECTION_H_

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <cstdint>
#include <functional>
#include <memory>

#include "manager/serving/http_server.h"

namespace mandate {

// Lives while its server has it, or an operation or a review of it runs. Used only on the server's
// thread.
class HttpConnection : public std::enable_shared_from_this<HttpConnection> {
 public:
  // The server, which outlives its connections' work.
  struct Host {
    const HttpServer::Options& options;
    // Shared with access checks that still run when the server ends.
    std::shared_ptr<boost::asio::io_context> io;
    // Numbers the moments at which a connection began to wait for its client, over all connections.
    uint64_t& turns;
    std::function<ServedResponse(const ServedRequest&)> serve;
    std::function<void(const std::shared_ptr<HttpConnection>&)> forget;
  };

  // Without TLS if `tls` is null.
  static std::shared_ptr<HttpConnection> Make(const Host& host, boost::asio::ip::tcp::socket socket,
                                              std::shared_ptr<boost::asio::ssl::context> tls);
  virtual ~HttpConnection() = default;

  virtual void Start() = 0;
  // Operations that are in progress end with an error.
  virtual void Close() = 0;

  // The number of the moment at which it began to wait for its client, to send or to receive. The
  // connection with the lowest number has waited longest.
  uint64_t turn() const { return turn_; }
  // It waits for the access check, not for its client.
  bool judged() const { return judged_; }

 protected:
  uint64_t turn_ = 0;
  bool judged_ = false;
};

}  // namespace mandate

#endif  // MANAGER_SERVING_HTTP_CONNECTION_H_
