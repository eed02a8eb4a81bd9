// An HTTP proxy for tests, on loopback. It supports CONNECT only.
#pragma once

#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "manager/core/mutex.h"

namespace mandate {

// Thread-safe.
class ConnectProxy {
 public:
  ConnectProxy();
  ~ConnectProxy();

  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }

  // Sets the proxy's response. Empty: it never answers. A response that starts with "HTTP/1.1 200"
  // opens a tunnel to the requested port of 127.0.0.1; any other ends the connection.
  void AnswerWith(std::string head);

  // The text that clients sent, up to the blank line.
  std::vector<std::string> heads() const;
  // All bytes that passed through tunnels to servers.
  std::string passed() const;

 private:
  void Accept();
  // Serves one client, on a thread of its own, until either end closes.
  void Serve(int client);
  void Tunnel(int client, int server);
  void Keep(int socket);

  mutable Mutex mutex_;
  std::string answer_ ABSL_GUARDED_BY(mutex_) = "HTTP/1.1 200 Connection established\r\n\r\n";
  std::vector<std::string> heads_ ABSL_GUARDED_BY(mutex_);
  std::string passed_ ABSL_GUARDED_BY(mutex_);
  std::vector<int> sockets_ ABSL_GUARDED_BY(mutex_);  // closed by the destructor
  const int listener_;
  uint16_t port_ = 0;
  std::vector<std::jthread> clients_;  // the accepting thread adds to it
  std::jthread accepting_;
};

}  // namespace mandate
