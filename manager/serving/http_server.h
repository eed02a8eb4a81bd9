// A small HTTP server: probes and scrapes, and requests with bodies such as webhooks'.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "manager/core/log.h"
#include "manager/core/metrics.h"
#include "manager/serving/serving_certificate.h"

namespace mandate {

// A request for a handler. The views are valid during the call.
struct ServedRequest {
  std::string_view path = {};  // without the query: "/readyz/ping"
  std::map<std::string, std::string> query =
      {};                        // decoded; the values of a repeated key are joined by commas
  std::string_view accept = {};  // the header "Accept"; empty: none
  std::string_view host = {};    // the header "Host"
};

struct ServedResponse {
  int code = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body;
};

// Runs on the server's thread, one at a time, and must return soon. An exception becomes a 500.
using ServeHandler = std::function<ServedResponse(const ServedRequest&)>;

// A handler whose answer takes a while. It is called on the server's thread, must return soon and
// must not throw. It must answer once and in bounded time, from any thread, also after the server
// was destroyed.
using DeferredHandler =
    std::function<void(const ServedRequest&, std::function<void(ServedResponse)> answer)>;

// A request with a body.
struct PostedRequest {
  std::string path = {};
  std::map<std::string, std::string> query = {};  // as ServedRequest::query
  std::string content_type = {};
  std::string body = {};
  // The permit from PostRoute::admit. Keep it as long as the work continues, also after the client
  // has disconnected.
  std::shared_ptr<void> permit = {};
};

struct PostRoute {
  size_t max_body_bytes = 7 << 20;  // a larger body is a 413
  // Called after the header has arrived, before the body is read, with the body's size
  // (max_body_bytes if the client does not send the size). It returns a permit, or the response to
  // send instead. Empty: every request is admitted.
  std::function<std::variant<std::shared_ptr<void>, ServedResponse>(size_t bytes)> admit = {};
  // Runs on the server's thread and must return soon. It must answer once, from any thread, also
  // after the server was destroyed.
  std::function<void(PostedRequest, std::function<void(ServedResponse)> answer)> handle;
};

// A request for the access check. The views are valid during the call.
struct AccessRequest {
  std::string_view verb;    // "get", "head"
  std::string_view path;    // without the query
  std::string_view bearer;  // the request's token; empty: none
};

// Checks whether a request may be served. It answers with nothing, or with the response to send
// instead. It is called on the server's thread, and must answer once and in bounded time, from any
// thread, also after the server was destroyed.
using AccessCheck = std::function<void(const AccessRequest&,
                                       std::function<void(std::optional<ServedResponse>)> answer)>;

// HTTP/1.1, with GET, HEAD and POST. All memory that a client can make it use is bounded. Runs from
// Create() until it is destroyed, on a thread of its own. Thread-safe.
class HttpServer {
 public:
  struct Options {
    std::string address = "127.0.0.1:8081";  // port 0: any free one
    // By path. A path that ends in '/' also handles all paths below it that have no handler.
    std::map<std::string, ServeHandler> handlers = {};
    // By the exact path, of GET and HEAD; they take precedence.
    std::map<std::string, DeferredHandler> deferred = {};
    // By the exact path.
    std::map<std::string, PostRoute> posts = {};
    ServingCertificate* certificate = nullptr;  // null: plain; outlives the server
    AccessCheck access_check = {};              // for GET and HEAD; empty: every client may read

    // At this limit, a new connection replaces the one that has been idle longest, so that a client
    // that holds all connections cannot block probes.
    size_t max_connections = 64;
    size_t max_header_bytes = 8 * 1024;
    // The timeout of a TLS handshake, of a connection's first byte, of receiving a request, and of
    // sending its response.
    absl::Duration request_timeout = absl::Seconds(10);
    absl::Duration idle_timeout = absl::Seconds(60);  // between requests of one connection

    Metrics* metrics = nullptr;  // outlives the server
    Logger log = {};
  };

  // kInvalidArgument: the address is not "host:port". kUnavailable: the server cannot listen on it;
  // the message has the reason and the next step.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Create(Options options);
  ~HttpServer();

  // From now on each answer ends its connection, so that clients move to another server. Requests
  // are served until the server is destroyed.
  void Drain();

  // The address with the actual port.
  const std::string& address() const;

 private:
  class Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace mandate
