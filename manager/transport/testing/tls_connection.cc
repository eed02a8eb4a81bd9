#include "manager/transport/testing/tls_connection.h"

#include <linux/filter.h>
#include <openssl/err.h>
#include <openssl/x509.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace mandate {
namespace {

constexpr size_t kWriteChunk = 64 * 1024;

std::string ClientCommonName(SSL* ssl) {
  X509* certificate = SSL_get1_peer_certificate(ssl);
  if (certificate == nullptr) return "";
  std::array<char, 256> name = {};
  X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName, name.data(),
                            name.size());
  X509_free(certificate);
  return name.data();
}

}  // namespace

TlsConnection::TlsConnection(EventLoop& loop, int fd, SSL* ssl, NewSession new_session,
                             std::function<void()> closed)
    : loop_(loop),
      fd_(fd),
      ssl_(ssl),
      new_session_(std::move(new_session)),
      closed_(std::move(closed)) {
  SSL_set_fd(ssl_, fd_);
  SSL_set_accept_state(ssl_);
}

TlsConnection::~TlsConnection() {
  if (session_ != nullptr) session_->CloseStreams();
  watch_.reset();
  SSL_free(ssl_);
  close(fd_);
}

bool TlsConnection::Start() {
  auto watch = loop_.WatchFd(fd_, EPOLLIN, [weak = weak_from_this()](uint32_t) {
    if (const auto self = weak.lock()) self->Drive();
  });
  if (!watch.ok()) return false;
  watch_ = *std::move(watch);
  UpdateEvents();
  return true;
}

void TlsConnection::SetStalled(bool stalled) {
  stalled_ = stalled;
  UpdateEvents();
  if (!stalled_) ScheduleDrive();
}

bool TlsConnection::BlackHole() {
  sock_filter drop = BPF_STMT(BPF_RET | BPF_K, 0);
  const sock_fprog program = {.len = 1, .filter = &drop};
  return setsockopt(fd_, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) == 0;
}

void TlsConnection::GoAway(ServerSession::GoAwayFrame frame) {
  if (session_ != nullptr) session_->GoAway(frame);
}

void TlsConnection::Reset() {
  const linger now = {.l_onoff = 1, .l_linger = 0};
  setsockopt(fd_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
  Close();
}

void TlsConnection::Close() {
  if (watch_ == nullptr) return;
  watch_.reset();
  if (session_ != nullptr) session_->CloseStreams();
  if (closed_) loop_.Post(std::exchange(closed_, nullptr));
}

void TlsConnection::ScheduleDrive() {
  if (drive_scheduled_) return;
  drive_scheduled_ = true;
  loop_.Post([weak = weak_from_this()] {
    const auto self = weak.lock();
    if (self == nullptr) return;
    self->drive_scheduled_ = false;
    self->Drive();
  });
}

void TlsConnection::Drive() {
  if (watch_ == nullptr || stalled_) return;
  want_write_ = false;
  // Old errors of other connections would be taken for errors of this one.
  ERR_clear_error();
  if (!SSL_is_init_finished(ssl_) && !Handshake()) return;
  if (std::exchange(stall_after_handshake_, false)) {
    SetStalled(true);
    return;
  }
  if (session_ == nullptr) {
    const unsigned char* protocol = nullptr;
    unsigned int size = 0;
    SSL_get0_alpn_selected(ssl_, &protocol, &size);
    const std::string_view chosen(reinterpret_cast<const char*>(protocol), size);
    session_ = new_session_(chosen == "h2", ClientCommonName(ssl_), [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->ScheduleDrive();
    });
  }
  if (!ReadAll() || !WriteAll()) {
    Close();
    return;
  }
  UpdateEvents();
}

bool TlsConnection::WouldBlock(int result) {
  const int error = SSL_get_error(ssl_, result);
  if (error == SSL_ERROR_WANT_WRITE) want_write_ = true;
  return error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE;
}

bool TlsConnection::Handshake() {
  const int result = SSL_do_handshake(ssl_);
  if (result == 1) return true;
  if (WouldBlock(result)) {
    UpdateEvents();
  } else {
    Close();
  }
  return false;
}

bool TlsConnection::ReadAll() {
  std::array<char, 16 * 1024> buffer;
  while (!stalled_) {
    const int count = SSL_read(ssl_, buffer.data(), buffer.size());
    if (count <= 0) return WouldBlock(count);
    if (!session_->Receive({buffer.data(), static_cast<size_t>(count)})) return false;
  }
  return true;
}

bool TlsConnection::WriteAll() {
  while (!stalled_) {
    if (outgoing_.empty()) session_->Collect(outgoing_, kWriteChunk);
    if (outgoing_.empty()) return !session_->done() || Linger();
    const size_t size = std::min(outgoing_.size(), record_size_);
    const int count = SSL_write(ssl_, outgoing_.data(), static_cast<int>(size));
    if (count <= 0) return WouldBlock(count);
    outgoing_.erase(0, static_cast<size_t>(count));
  }
  return true;
}

bool TlsConnection::Linger() {
  if (session_->linger() == absl::ZeroDuration()) return false;
  if (lingering_ == nullptr) {
    lingering_ = loop_.RunAt(loop_.clock().TimeNow() + session_->linger(), [this] { Close(); });
  }
  return true;
}

void TlsConnection::UpdateEvents() {
  if (watch_ == nullptr) return;
  watch_->SetEvents(stalled_ ? 0 : want_write_ ? EPOLLIN | EPOLLOUT : EPOLLIN);
}

}  // namespace mandate
