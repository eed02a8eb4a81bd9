// An HTTP proxy for tests, on loopback, that knows CONNECT alone.
#ifndef MANAGER_TRANSPORT_TESTING_CONNECT_PROXY_H_
#define MANAGER_TRANSPORT_TESTING_CONNECT_PROXY_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "manager/core/event_loop.h"
#include "manager/core/mutex.h"

namespace mandate {

// Thread-safe.
class ConnectProxy {
 public:
  static absl::StatusOr<std::unique_ptr<ConnectProxy>> Create();
  ~ConnectProxy();

  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }

  // What it answers from now on. Empty: nothing, ever. Anything that does not start with
  // "HTTP/1.1 200" ends the connection; that does, and it is a tunnel to the port of 127.0.0.1 that
  // was asked for.
  void AnswerWith(std::string head);

  // What clients said to it, up to the blank line.
  std::vector<std::string> heads() const;
  // Every byte that passed through tunnels to servers.
  std::string passed() const;

 private:
  class Connection;

  ConnectProxy() = default;
  absl::Status Listen();
  void Accept();

  mutable Mutex mutex_;
  std::string answer_ ABSL_GUARDED_BY(mutex_) = "HTTP/1.1 200 Connection established\r\n\r\n";
  std::vector<std::string> heads_ ABSL_GUARDED_BY(mutex_);
  std::string passed_ ABSL_GUARDED_BY(mutex_);
  uint16_t port_ = 0;
  int listener_ = -1;

  // Of the loop's thread.
  std::unique_ptr<EventLoop::FdWatch> accepting_;
  std::map<uint64_t, std::shared_ptr<Connection>> connections_;
  uint64_t next_connection_ = 0;

  std::unique_ptr<EventLoop> loop_;  // last: stops before what its tasks use
};

}  // namespace mandate

#endif  // MANAGER_TRANSPORT_TESTING_CONNECT_PROXY_H_
