#include "manager/transport/testing/h2_server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/bio.h>
#include <openssl/pem.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"

namespace mandate {
namespace {

absl::Status Failed(const char* what) {
  return absl::InternalError(absl::StrCat("test server: ", what, " failed: ", strerror(errno)));
}

X509* ReadCertificate(const std::string& pem) {
  BIO* bio = BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()));
  X509* certificate = PEM_read_bio_X509(bio, nullptr, nullptr, nullptr);
  BIO_free(bio);
  return certificate;
}

bool UseKeyPair(SSL_CTX* context, const KeyPair& pair) {
  X509* certificate = ReadCertificate(pair.certificate_pem);
  BIO* bio = BIO_new_mem_buf(pair.key_pem.data(), static_cast<int>(pair.key_pem.size()));
  EVP_PKEY* key = PEM_read_bio_PrivateKey(bio, nullptr, nullptr, nullptr);
  BIO_free(bio);
  const bool ok = SSL_CTX_use_certificate(context, certificate) == 1 &&
                  SSL_CTX_use_PrivateKey(context, key) == 1;
  X509_free(certificate);
  EVP_PKEY_free(key);
  return ok;
}

// The `argument` is the protocol to choose, in ALPN's format.
int ChooseProtocol(SSL*, const unsigned char** out, unsigned char* out_size,
                   const unsigned char* offered, unsigned int offered_size, void* argument) {
  const std::string_view wanted = static_cast<const char*>(argument);
  for (unsigned int at = 0; at < offered_size; at += offered[at] + 1u) {
    if (std::string_view(reinterpret_cast<const char*>(offered + at + 1), offered[at]) == wanted) {
      *out = offered + at + 1;
      *out_size = offered[at];
      return SSL_TLSEXT_ERR_OK;
    }
  }
  return SSL_TLSEXT_ERR_NOACK;
}

}  // namespace

absl::StatusOr<H2Server::SslContext> H2Server::NewSslContext(const Options& options,
                                                             const KeyPair& certificate) {
  SslContext context(SSL_CTX_new(TLS_server_method()));
  if (context == nullptr || !UseKeyPair(context.get(), certificate)) {
    return absl::InternalError("test server: no TLS context");
  }
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  SSL_CTX_set_mode(context.get(),
                   SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_alpn_select_cb(context.get(), ChooseProtocol,
                             const_cast<char*>(options.http2 ? "h2" : "http/1.1"));
  if (options.client_ca != nullptr) {
    X509* certificate = ReadCertificate(options.client_ca->certificate_pem());
    X509_STORE_add_cert(SSL_CTX_get_cert_store(context.get()), certificate);
    SSL_CTX_add_client_CA(context.get(), certificate);
    X509_free(certificate);
    // An API server does this, because a token may come instead of a certificate.
    SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
    SSL_CTX_set_session_id_context(context.get(), reinterpret_cast<const unsigned char*>("t"), 1);
  }
  return context;
}

absl::StatusOr<std::unique_ptr<H2Server>> H2Server::Create(Options options, ServerHandler handler) {
  if (options.ca == nullptr) return absl::InvalidArgumentError("test server: no CA");
  if (!options.certificate.has_value()) {
    options.certificate = options.ca->IssueServer(options.names);
  }
  absl::StatusOr<SslContext> ssl = NewSslContext(options, *options.certificate);
  if (!ssl.ok()) return std::move(ssl).status();
  absl::StatusOr<std::unique_ptr<EventLoop>> loop =
      EventLoop::Create({.thread_name = "test-server"});
  if (!loop.ok()) return std::move(loop).status();
  auto server = std::unique_ptr<H2Server>(
      new H2Server(std::move(options), std::move(handler), *std::move(ssl), *std::move(loop)));
  if (absl::Status status = server->Listen(); !status.ok()) return status;
  return server;
}

H2Server::H2Server(Options options, ServerHandler handler, SslContext ssl,
                   std::unique_ptr<EventLoop> loop)
    : options_(std::move(options)),
      handler_(std::move(handler)),
      ssl_(std::move(ssl)),
      loop_(std::move(loop)) {}

H2Server::~H2Server() {
  OnLoop([this] {
    accepting_.reset();
    connections_.clear();
  });
  loop_->Stop();
  if (listener_ >= 0) close(listener_);
}

absl::Status H2Server::Listen() {
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (listener_ < 0) return Failed("socket");
  const int on = 1;
  setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(options_.port);
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  socklen_t size = sizeof address;
  if (bind(listener_, generic, size) != 0) return Failed("bind");
  if (listen(listener_, 1024) != 0) return Failed("listen");
  if (getsockname(listener_, generic, &size) != 0) return Failed("getsockname");
  port_ = ntohs(address.sin_port);
  absl::Status status;
  OnLoop([this, &status] {
    auto watch = loop_->WatchFd(listener_, EPOLLIN, [this](uint32_t) { Accept(); });
    status = watch.status();
    if (watch.ok()) accepting_ = *std::move(watch);
  });
  return status;
}

void H2Server::Accept() {
  while (true) {
    const int fd = accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) return;
    ++stats_.accepted;
    if (accept_ == Accepting::kClose) {
      close(fd);
    } else {
      Add(fd);
    }
  }
}

void H2Server::Add(int fd) {
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  const uint64_t id = stats_.accepted;
  auto new_session = [this, id](bool http2, std::string client_common_name,
                                std::function<void()> wants_to_write) {
    ServerSession::Context context{.loop = *loop_,
                                   .handler =
                                       [this](std::shared_ptr<ServerStream> stream) {
                                         ++stats_.requests;
                                         const auto connection =
                                             connections_.find(stream->request().connection);
                                         if (connection != connections_.end()) {
                                           stats_.most_streams_on_a_connection = std::max(
                                               stats_.most_streams_on_a_connection,
                                               connection->second->session()->open_streams());
                                         }
                                         handler_(std::move(stream));
                                       },
                                   .connection = id,
                                   .client_common_name = std::move(client_common_name),
                                   .early_answer = early_answer_,
                                   .answered_early = [this] { ++stats_.early_answers; },
                                   .wants_to_write = std::move(wants_to_write)};
    return http2 ? NewHttp2Session(std::move(context), options_.max_concurrent_streams)
                 : NewHttp1Session(std::move(context));
  };
  auto connection =
      std::make_shared<TlsConnection>(*loop_, fd, SSL_new(ssl_.get()), std::move(new_session),
                                      [this, id] { connections_.erase(id); });
  if (record_size_.has_value()) connection->SetRecordSize(*record_size_);
  if (accept_ == Accepting::kIgnore) connection->SetStalled(true);
  if (accept_ == Accepting::kMute) connection->StallAfterHandshake();
  if (connection->Start()) connections_.emplace(id, std::move(connection));
}

void H2Server::OnLoop(const std::function<void()>& work) {
  if (loop_->IsCurrent()) {
    work();
    return;
  }
  Latch done;
  loop_->Post([&] {
    work();
    done.Set();
  });
  loop_->Await(done);
}

void H2Server::ForEachConnection(const std::function<void(TlsConnection&)>& work) {
  OnLoop([this, &work] {
    for (const auto& [id, connection] : connections_) work(*connection);
  });
}

void H2Server::GoAway(ServerSession::GoAwayFrame frame) {
  ForEachConnection([frame](TlsConnection& connection) { connection.GoAway(frame); });
  // The GOAWAY has been written before this runs.
  if (!loop_->IsCurrent()) OnLoop([] {});
}

void H2Server::SetStalled(bool stalled) {
  ForEachConnection([stalled](TlsConnection& connection) { connection.SetStalled(stalled); });
}

bool H2Server::BlackHole() {
  bool ok = true;
  ForEachConnection([&ok](TlsConnection& connection) { ok = connection.BlackHole() && ok; });
  return ok;
}

void H2Server::ResetConnections() {
  ForEachConnection([](TlsConnection& connection) { connection.Reset(); });
}

void H2Server::SetCertificate(const KeyPair& certificate) {
  absl::StatusOr<SslContext> ssl = NewSslContext(options_, certificate);
  if (ssl.ok()) OnLoop([this, &ssl] { ssl_ = *std::move(ssl); });
}

void H2Server::AnswerEarly(ServerSession::EarlyAnswer answer) {
  OnLoop([&] { early_answer_ = std::move(answer); });
}

void H2Server::SetRecordSize(size_t bytes) {
  OnLoop([&] { record_size_ = bytes; });
}

void H2Server::CloseConnections() {
  ForEachConnection([](TlsConnection& connection) { connection.Close(); });
}

void H2Server::SetAccepting(Accepting accepting) {
  OnLoop([this, accepting] { accept_ = accepting; });
}

H2Server::Stats H2Server::stats() {
  Stats stats;
  OnLoop([this, &stats] {
    stats = stats_;
    for (const auto& [id, connection] : connections_) {
      if (connection->session() == nullptr) continue;
      ++stats.connected;
      stats.open_streams += connection->session()->open_streams();
    }
  });
  return stats;
}

}  // namespace mandate
