// One TLS connection of a test server: the socket and its session.
#ifndef MANAGER_TRANSPORT_TESTING_TLS_CONNECTION_H_
#define MANAGER_TRANSPORT_TESTING_TLS_CONNECTION_H_

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
  // Makes the session when the handshake is done.
  using NewSession = std::function<std::shared_ptr<ServerSession>(
      bool http2, std::string client_common_name, std::function<void()> wants_to_write)>;

  // Takes the socket. `closed` runs once, later, as a task.
  TlsConnection(EventLoop& loop, int fd, SSL* ssl, NewSession new_session,
                std::function<void()> closed);
  ~TlsConnection();

  // Starts reading; false when the loop cannot watch the socket.
  bool Start();
  // No byte in or out until it ends, while the kernel goes on acknowledging: a hung server.
  void SetStalled(bool stalled);
  // As SetStalled(true), from the end of the handshake on.
  void StallAfterHandshake() { stall_after_handshake_ = true; }
  // The most that it writes into one TLS record.
  void SetRecordSize(size_t bytes) { record_size_ = bytes; }
  // The kernel drops what comes, unacknowledged: a machine that is gone. False: it may not.
  bool BlackHole();
  void GoAway(ServerSession::GoAwayFrame frame);
  void Close();
  // As Close(), by a TCP reset.
  void Reset();

  // Null before the handshake is over.
  const ServerSession* session() const { return session_.get(); }

 private:
  void Drive();
  bool Handshake();
  bool ReadAll();
  bool WriteAll();
  // False: close now.
  bool Linger();
  // After an OpenSSL call failed: whether that was only for want of readiness.
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

#endif  // MANAGER_TRANSPORT_TESTING_TLS_CONNECTION_H_
