// The interface to send bytes to an API server and to receive them. HttpTransport is the real one,
// over HTTP/2; testing/fake_transport.h has scripted responses.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "manager/core/call_context.h"
#include "manager/core/secret.h"

namespace mandate {

// A TLS client certificate. It authenticates a whole connection, so requests without it never share
// that connection.
struct ClientCertificate {
  std::string certificate_pem;
  std::shared_ptr<const Secret> key_pem;
};

// The address of an API server, and how to verify that it is the right one. Immutable once shared.
struct Endpoint {
  std::string server;           // "https://10.0.0.1:6443", without a trailing slash
  std::string ca_pem;           // never empty: TLS is always verified
  std::string tls_server_name;  // overrides the host name to verify, when not empty
  // The file that `ca_pem` was read from; it is read again for new connections. Empty: never.
  std::string ca_file = {};
  // "http://HOST:PORT" of the proxy that tunnels connections (proxy.h). Empty: no proxy.
  std::string proxy = {};
  std::optional<ClientCertificate> client_certificate = {};
};

// The credential of a request. There is no default: a request without one does not compile.
struct BearerToken {
  std::shared_ptr<const Secret> token;
};
// The endpoint's client certificate. Only the base identity uses it, with such a kubeconfig.
struct EndpointCertificate {};
using Credential = std::variant<BearerToken, EndpointCertificate>;

struct HttpResponse {
  int code = 0;
  std::string content_type;
  std::optional<absl::Duration> retry_after;
  std::vector<std::string> warnings;  // texts of "Warning: 299" headers
  std::string body;
};

// Takes a response's body as it comes, so that no buffer holds the whole body. Called on the
// transport's loop, perhaps after the call was cancelled. Must return at once, and not touch the
// transport.
class BodySink {
 public:
  virtual ~BodySink() = default;
  // A 2xx response begins. It may not be the first: a request that is sent again gets another
  // response, and what came before is void.
  virtual void OnHeaders(const HttpResponse& head) = 0;
  // Bytes, cut anywhere. An error ends the call and is its result.
  virtual absl::Status OnBody(std::string_view bytes) = 0;
};

struct HttpRequest {
  HttpRequest(std::shared_ptr<const Endpoint> to, Credential as, std::string http_method,
              std::string path_and_query)
      : endpoint(std::move(to)),
        credential(std::move(as)),
        method(std::move(http_method)),
        target(std::move(path_and_query)) {}

  std::shared_ptr<const Endpoint> endpoint;
  Credential credential;
  std::string method;  // "GET"
  std::string target;  // "/api/v1/namespaces?limit=500"
  std::string user_agent;
  std::string accept = "application/json";
  std::string content_type;  // of the body; empty: no body
  std::string body;
  // Further headers, such as "Impersonate-User". Authorization is an error: the credential sets it.
  std::vector<std::pair<std::string, std::string>> headers;
  // For a call: takes the body of a 2xx response instead of HttpResponse::body, and the transport's
  // bound on bodies does not apply. Null: none.
  std::shared_ptr<BodySink> body_sink = nullptr;
};

// Receives a stream. Called on the transport's loop; must return at once.
class StreamSink {
 public:
  enum class Flow { kContinue, kCancel };
  virtual ~StreamSink() = default;
  // The response's head, once. With a code other than 2xx the body still follows in OnData.
  virtual Flow OnOpen(const HttpResponse& head) = 0;
  // Bytes as they come, cut anywhere.
  virtual Flow OnData(std::string_view bytes) = 0;
  // Exactly once and last, never inside Open() or Cancel(). OK: the server ended the stream.
  // kCancelled: we cancelled it. kUnavailable: the connection failed.
  virtual void OnClosed(absl::Status status) = 0;
};

// An open stream. Loop thread only.
class Stream {
 public:
  // Cancels. The sink still gets OnClosed later, unless it is destroyed before.
  virtual ~Stream() = default;
};

// Any HTTP status is a success here; an error means that there was no complete response:
// kUnavailable (connection refused, reset, TLS), kDeadlineExceeded, kCancelled, kResourceExhausted
// (a bound of ours), kInvalidArgument (an invalid request object). The error of a request that the
// server certainly did not act on is marked: WasNotSent() (core/not_sent.h).
//
// Loop thread only, unless a function says otherwise.
class Transport {
 public:
  using Done = absl::AnyInvocable<void(absl::StatusOr<HttpResponse>) &&>;
  // Open calls and streams end with kCancelled, later on the loop.
  virtual ~Transport() = default;

  // Sends one request. `done` runs on the loop exactly once, never inside this call, and at the
  // latest when `context`'s deadline passes or its stop is requested.
  virtual void Call(const CallContext& context, HttpRequest request, Done done) = 0;

  // Opens a stream (a watch). It has no deadline but the server's own timeoutSeconds and the
  // transport's time-to-headers. The transport keeps `sink` as long as the Stream exists; after
  // that the sink gets OnClosed only if another owner keeps it. If the request cannot be sent,
  // OnClosed gets the error.
  [[nodiscard]] virtual std::unique_ptr<Stream> Open(HttpRequest request,
                                                     std::shared_ptr<StreamSink> sink) = 0;
};

}  // namespace mandate
