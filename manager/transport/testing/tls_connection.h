// One TLS connection of a test server: its socket and its session.
#pragma once

#include <openssl/ssl.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "manager/core/event_loop.h"
#include "manager/transport/testing/server_session.h"

namespace mandate {

// Server's loop only.
class TlsConnection : public std::enable_shared_from_this<TlsConnection> {
 public:
  // Makes the session after the handshake.
  using NewSession = std::function<std::shared_ptr<ServerSession>(
      bool http2, std::string client_common_name, std::function<void()> wants_to_write)>;

  // Takes the socket. `closed` runs once, later, in a task of its own.
  TlsConnection(EventLoop& loop, int fd, SSL* ssl, NewSession new_session,
                std::function<void()> closed);
  ~TlsConnection();

  // Starts to read. False: the loop cannot watch the socket.
  bool Start();
  // No bytes in or out until it ends, while the kernel still acknowledges: a server that hangs.
  void SetStalled(bool stalled);
  // SetStalled(true) at the end of the handshake.
  void StallAfterHandshake() { stall_after_handshake_ = true; }
  // The largest TLS record that it writes.
  void SetRecordSize(size_t bytes) { record_size_ = bytes; }
  // The kernel drops all packets without an acknowledgement, as if the machine were off. False: the
  // kernel does not allow it.
  bool BlackHole();
  void GoAway(ServerSession::GoAwayFrame frame);
  void Close();
  // The same as Close(), by a TCP reset.
  void Reset();

  // Null before the end of the handshake.
  const ServerSession* session() const { return session_.get(); }

 private:
  void Drive();
  bool Handshake();
  bool ReadAll();
  bool WriteAll();
  // False: close the connection now.
  bool Linger();
  // After an OpenSSL call failed: whether it only has to wait for the socket.
  bool WouldBlock(int result);
  void UpdateEvents();
  void ScheduleDrive();

  EventLoop& loop_;
  const int fd_;
  SSL* const ssl_;
  const NewSession new_session_;
  std::function<void()> closed_;
  std::unique_ptr<EventLoop::FdWatch> watch_;
  std::shared_ptr<ServerSession> session_;
  std::string outgoing_;
  size_t record_size_ = 64 * 1024;  // OpenSSL has its own limit
  std::unique_ptr<Loop::Timer> lingering_;
  bool want_write_ = false;
  bool stalled_ = false;
  bool stall_after_handshake_ = false;
  bool drive_scheduled_ = false;
};

}  // namespace mandate
