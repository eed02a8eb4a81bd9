// Requests and streams to one API server, in one thread.
//
// Not the project's own transport: that one refuses to send what is wrong, and wrong requests are
// half of what a server's behaviour is.
//
// Requests without a body go over HTTP/2, those with one over HTTP/1.1. A server may answer a
// request before it has read the body, and then ends the HTTP/2 stream with RST_STREAM (RFC
// 9113, 8.1): libcurl 7.88 drops an answer that it has not handed on when that comes, which is a
// matter of the machine's load. Over HTTP/1.1 there is nothing to reset.
#ifndef TESTING_CONFORMANCE_HTTP_H_
#define TESTING_CONFORMANCE_HTTP_H_

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
  std::string certificate_pem = {};  // for requests that say so
  std::string key_pem = {};
};

struct Request {
  std::string method;
  std::string target;  // sent as it is
  std::vector<std::pair<std::string, std::string>> headers = {};
  std::string body = {};
  bool has_body = false;
  bool certificate = false;
  // Over HTTP/1.1 also without a body. The answer to a path that cannot be parsed is a 400 there,
  // and a reset stream over HTTP/2.
  bool http1 = false;
};

struct Response {
  int code = 0;
  std::multimap<std::string, std::string> headers = {};  // names in lower case
  std::string body = {};

  // The first value, or "".
  std::string Header(const std::string& name) const;
};

// A response whose body may go on. Destroying it gives it up.
class Exchange {
 public:
  virtual ~Exchange() = default;
  virtual bool headed() const = 0;
  virtual bool ended() const = 0;
  virtual const absl::Status& status() const = 0;  // OK until it ended, and when it ended well
  // `body` is what came so far; the reader may take from it.
  virtual Response& response() = 0;
};

// For one thread. Exchanges must be gone before it is.
class HttpClient {
 public:
  explicit HttpClient(Connection connection);
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  std::unique_ptr<Exchange> Start(const Request& request);
  // Serves all exchanges until `done` or the time is over. Returns done().
  bool Await(const std::function<bool()>& done, absl::Duration patience);

  // kUnavailable: no whole response came in 30 seconds.
  absl::StatusOr<Response> Send(const Request& request);
  // The responses in the order of the requests, at most `at_once` of which are under way.
  // kUnavailable: 30 seconds passed in which no response ended.
  absl::StatusOr<std::vector<Response>> SendAll(const std::vector<Request>& requests,
                                                size_t at_once = 16);

 private:
  struct Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace mandate::conformance

#endif  // TESTING_CONFORMANCE_HTTP_H_
