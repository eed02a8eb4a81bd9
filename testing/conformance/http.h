// A client for requests and streams to one API server, in one thread.
//
// It does not use the project's own transport, which rejects invalid requests: half of the
// behaviour under test is the answer to an invalid request.
//
// Requests without a body use HTTP/2, and requests with a body HTTP/1.1. A server may answer a
// request before it has read the body, and then ends the HTTP/2 stream with RST_STREAM (RFC 9113,
// 8.1). If libcurl 7.88 has not delivered the answer by then, which depends on the machine's load,
// it drops the answer. HTTP/1.1 has no such reset.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace mandate::conformance {

// How a connection is made.
struct Connection {
  std::string server = {};  // https://127.0.0.1:6443
  std::string ca_pem = {};
  std::string certificate_pem = {};  // for requests with `certificate`
  std::string key_pem = {};
};

struct Request {
  std::string method;
  std::string target;  // sent unchanged
  std::vector<std::pair<std::string, std::string>> headers = {};
  std::string body = {};
  bool has_body = false;
  bool certificate = false;
  // Uses HTTP/1.1 even without a body. The server answers an invalid path with 400 over HTTP/1.1,
  // and with a stream reset over HTTP/2.
  bool http1 = false;
};

struct Response {
  int code = 0;
  std::multimap<std::string, std::string> headers = {};  // names in lower case
  std::string body = {};

  // The first value, or "".
  std::string Header(const std::string& name) const;
};

// A response whose body may continue. The destructor cancels the request.
class Exchange {
 public:
  virtual ~Exchange() = default;
  virtual bool headed() const = 0;
  virtual bool ended() const = 0;
  virtual const absl::Status& status() const = 0;  // OK unless it has failed
  // `body` is the data that has arrived so far; the reader may remove data from it.
  virtual Response& response() = 0;
};

// Single-threaded. It outlives its exchanges.
class HttpClient {
 public:
  explicit HttpClient(Connection connection);
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  std::unique_ptr<Exchange> Start(const Request& request);
  // Advances all exchanges until done() is true or `patience` is over. Returns done().
  bool Await(const std::function<bool()>& done, absl::Duration patience);

  // kUnavailable without a complete response within 30 seconds.
  absl::StatusOr<Response> Send(const Request& request);
  // Returns the responses in the order of the requests; at most `at_once` requests are open at a
  // time. kUnavailable if no response is completed within 30 seconds.
  absl::StatusOr<std::vector<Response>> SendAll(const std::vector<Request>& requests,
                                                size_t at_once = 16);

 private:
  struct Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace mandate::conformance
