// Bytes to and from an API server: the interface. HttpTransport is the real one, over HTTP/2;
// testing/fake_transport.h scripts answers.
#ifndef MANAGER_TRANSPORT_TRANSPORT_H_
#define MANAGER_TRANSPORT_TRANSPORT_H_

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

// A TLS client certificate. It authenticates a whole connection, so connections made with one are
// never shared with anything else.
struct ClientCertificate {
  std::string certificate_pem;
  std::shared_ptr<const Secret> key_pem;
};

// Where an API server is and how to know that it is the right one. Immutable once shared.
struct Endpoint {
  std::string server;           // "https://10.0.0.1:6443", without a trailing slash
  std::string ca_pem;           // never empty: TLS is always verified
  std::string tls_server_name;  // overrides the host name to verify, when not empty
  // Where `ca_pem` was read: it is read again, for new connections. Empty: it stays as it is.
  std::string ca_file = {};
  // "http://HOST:PORT": what connections are tunnelled through (proxy.h). Empty: none.
  std::string proxy = {};
  std::optional<ClientCertificate> client_certificate = {};
};

// Whose request it is. There is no default: a request is made with one or does not compile.
struct BearerToken {
  std::shared_ptr<const Secret> token;
};
// The endpoint's client certificate: only the base identity, started from such a kubeconfig.
struct EndpointCertificate {};
using Credential = std::variant<BearerToken, EndpointCertificate>;

struct HttpResponse {
  int code = 0;
  std::string content_type;
  std::optional<absl::Duration> retry_after;
  std::vector<std::string> warnings;  // texts of "Warning: 299" headers
  std::string body;
};

// Takes an answer's body as it comes, so that nobody holds the whole. Called on the transport's
// loop, perhaps after the call was cancelled; must return at once, and not touch the transport.
class BodySink {
 public:
  virtual ~BodySink() = default;
  // A 2xx answer begins. Not always the first: a request that is sent again is answered again, and
  // what came before is void.
  virtual void OnHead(const HttpResponse& head) = 0;
  // Bytes, cut anywhere. An error gives the call up and is its result.
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
  // Further headers, as "Impersonate-User". Authorization is refused: that is the credential's.
  std::vector<std::pair<std::string, std::string>> headers;
  // Of a call: takes the body of a 2xx answer instead of HttpResponse::body, without a bound of the
  // transport's. Null: none.
  std::shared_ptr<BodySink> body_sink = nullptr;
};

// What a stream brings. Called on the transport's loop; must return at once.
class StreamSink {
 public:
  enum class Flow { kContinue, kCancel };
  virtual ~StreamSink() = default;
  // The response's head, once. A code other than 2xx: the body follows in OnData all the same.
  virtual Flow OnOpen(const HttpResponse& head) = 0;
  // Bytes as they come, cut anywhere.
  virtual Flow OnData(std::string_view bytes) = 0;
  // Exactly once and last, never inside Open() or Cancel(). OK: the server ended the stream.
  // kCancelled: we did. kUnavailable: the connection failed.
  virtual void OnClosed(absl::Status status) = 0;
};

// An open stream. Loop thread only.
class Stream {
 public:
  // Cancels. The sink still gets OnClosed, later, unless it is gone by then.
  virtual ~Stream() = default;
};

// Any HTTP status is a success here; an error means that there was no complete response:
// kUnavailable (connection refused, reset, TLS), kDeadlineExceeded, kCancelled,
// kResourceExhausted (a bound of ours), kInvalidArgument (a bad request object). An error of a
// request that the server certainly did not act on is marked: WasNotSent() (core/not_sent.h).
//
// Loop thread only, except where said.
class Transport {
 public:
  using Done = absl::AnyInvocable<void(absl::StatusOr<HttpResponse>) &&>;
  // What is open ends with kCancelled, later on the loop.
  virtual ~Transport() = default;

  // Sends one request. `done` runs on the loop exactly once, never inside this call, and at the
  // latest when `context`'s deadline passes or its stop is requested.
  virtual void Call(const CallContext& context, HttpRequest request, Done done) = 0;

  // Opens a stream (a watch): no deadline but the server's own timeoutSeconds and the transport's
  // time-to-headers. The transport keeps `sink` while the Stream is; after that the sink gets its
  // OnClosed only if somebody else keeps it. A request that cannot be sent shows in OnClosed.
  [[nodiscard]] virtual std::unique_ptr<Stream> Open(HttpRequest request,
                                                     std::shared_ptr<StreamSink> sink) = 0;
};

}  // namespace mandate

#endif  // MANAGER_TRANSPORT_TRANSPORT_H_
