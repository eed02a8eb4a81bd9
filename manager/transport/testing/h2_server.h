// An HTTPS server for tests, on loopback, with HTTP/2 or HTTP/1.1 by ALPN.
//
//   TestCa ca;
//   auto server = *H2Server::Create({.ca = &ca}, [](std::shared_ptr<ServerStream> stream) {
//     stream->Respond(200, "{}");
//   });
//   endpoint.server = server->url();
#pragma once

#include <openssl/ssl.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "manager/core/event_loop.h"
#include "manager/transport/testing/server_session.h"
#include "manager/transport/testing/server_stream.h"
#include "manager/transport/testing/test_pki.h"
#include "manager/transport/testing/tls_connection.h"

namespace mandate {

// Thread-safe. Do not use its streams after it is destroyed.
class H2Server {
 public:
  struct Options {
    const TestCa* ca = nullptr;                         // issues the server's certificate…
    std::optional<KeyPair> certificate = std::nullopt;  // …unless this is set
    std::vector<std::string> names = {"IP:127.0.0.1", "DNS:localhost"};
    // Issues the certificates that clients may use. Null: clients are not asked for any.
    const TestCa* client_ca = nullptr;
    bool http2 = true;  // false: HTTP/1.1 only
    uint32_t max_concurrent_streams = 250;
    uint16_t port = 0;  // 0: a free one
  };

  struct Stats {
    size_t accepted = 0;   // connections so far
    size_t connected = 0;  // connections after their handshake, now
    size_t open_streams = 0;
    size_t most_streams_on_a_connection = 0;
    size_t requests = 0;
    size_t early_answers = 0;
  };

  static absl::StatusOr<std::unique_ptr<H2Server>> Create(Options options, ServerHandler handler);
  // Closes all connections.
  ~H2Server();

  uint16_t port() const { return port_; }
  std::string url() const { return "https://127.0.0.1:" + std::to_string(port_); }
  Loop& loop() { return *loop_; }

  // Sends GOAWAY on every open connection. Streams up to the frame's last continue.
  void GoAway(ServerSession::GoAwayFrame frame = {});
  // Keeps every open connection and does nothing on it. New connections work.
  void SetStalled(bool stalled);
  // Cuts the network of every open connection: nothing is acknowledged any more. False: the kernel
  // does not allow it in this process (in a sandbox).
  bool BlackHole();
  // The response of new connections to requests with a body.
  void AnswerEarly(ServerSession::EarlyAnswer answer);
  // New connections write TLS records of this size.
  void SetRecordSize(size_t bytes);
  void CloseConnections();
  // Resets connections (TCP RST).
  void ResetConnections();
  // Sets the certificate of new connections.
  void SetCertificate(const KeyPair& certificate);
  // The behaviour of new connections. kClose: closes them at once; kIgnore: never answers the
  // handshake; kMute: sends nothing after it.
  enum class Accepting { kServe, kClose, kIgnore, kMute };
  void SetAccepting(Accepting accepting);

  Stats stats();

 private:
  struct SslContextDeleter {
    void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
  };
  using SslContext = std::unique_ptr<SSL_CTX, SslContextDeleter>;

  H2Server(Options options, ServerHandler handler, SslContext ssl, std::unique_ptr<EventLoop> loop);
  static absl::StatusOr<SslContext> NewSslContext(const Options& options,
                                                  const KeyPair& certificate);
  absl::Status Listen();
  void Accept();
  void Add(int fd);
  // Runs `work` on the loop and waits for it.
  void OnLoop(const std::function<void()>& work);
  void ForEachConnection(const std::function<void(TlsConnection&)>& work);

  const Options options_;
  const ServerHandler handler_;
  uint16_t port_ = 0;
  int listener_ = -1;

  // Used on the loop's thread only.
  SslContext ssl_;
  std::unique_ptr<EventLoop::FdWatch> accepting_;
  std::map<uint64_t, std::shared_ptr<TlsConnection>> connections_;
  Accepting accept_ = Accepting::kServe;
  std::optional<ServerSession::EarlyAnswer> early_answer_;
  std::optional<size_t> record_size_;
  Stats stats_;

  std::unique_ptr<EventLoop> loop_;  // last: it stops before what its tasks use is destroyed
};

}  // namespace mandate
