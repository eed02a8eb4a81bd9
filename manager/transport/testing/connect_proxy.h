// An HTTP proxy for tests, on loopback. It supports CONNECT only.
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

  // Its response from now on. Empty: never any. A response that starts with "HTTP/1.1 200" opens a
  // tunnel to the requested port of 127.0.0.1; any other ends the connection.
  void AnswerWith(std::string head);

  // The text that clients sent, up to the blank line.
  std::vector<std::string> heads() const;
  // All bytes that passed through tunnels to servers.
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

  // Used on the loop's thread only.
  std::unique_ptr<EventLoop::FdWatch> accepting_;
  std::map<uint64_t, std::shared_ptr<Connection>> connections_;
  uint64_t next_connection_ = 0;

  std::unique_ptr<EventLoop> loop_;  // last: it stops before what its tasks use is destroyed
};

}  // namespace mandate

#endif  // MANAGER_TRANSPORT_TESTING_CONNECT_PROXY_H_
