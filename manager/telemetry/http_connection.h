// One connection of HttpServer, plain or of TLS.
#ifndef MANAGER_TELEMETRY_HTTP_CONNECTION_H_
#define MANAGER_TELEMETRY_HTTP_CONNECTION_H_

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <functional>
#include <memory>

#include "manager/telemetry/http_server.h"

namespace mandate {

// Lives as long as its server knows it or something is under way. On the server's thread only.
class HttpConnection : public std::enable_shared_from_this<HttpConnection> {
 public:
  // The server, which outlives its connections' work.
  struct Host {
    const HttpServer::Options& options;
    // Shared with whoever still judges a request when the server ends.
    std::shared_ptr<boost::asio::io_context> io;
    std::function<ServedResponse(const ServedRequest&)> serve;
    std::function<void(const std::shared_ptr<HttpConnection>&)> forget;
  };

  // `tls` null: plain.
  static std::shared_ptr<HttpConnection> Make(const Host& host, boost::asio::ip::tcp::socket socket,
                                              std::shared_ptr<boost::asio::ssl::context> tls);
  virtual ~HttpConnection() = default;

  virtual void Start() = 0;
  // Whatever is under way ends with an error.
  virtual void Close() = 0;
};

}  // namespace mandate

#endif  // MANAGER_TELEMETRY_HTTP_CONNECTION_H_
