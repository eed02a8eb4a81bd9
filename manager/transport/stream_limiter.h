// Counts the streams of one connection and decides how many more it takes.
//
// libcurl by itself would queue transfers or open connections (herds of connections, transfers that
// hang for ever), so it never gets a transfer that its connection cannot take. libcurl hides the
// server's limit and GOAWAY. Both show as an attempt to open a second socket, which is refused: the
// transfer was not sent and goes elsewhere.
#pragma once

#include <cstddef>

namespace mandate {

// Single-threaded.
class StreamLimiter {
 public:
  // kConnecting: one transfer, until the first head has come. kDraining: no new transfers; those
  // that run continue. kDead: the connection is closed, with all its transfers.
  enum class State { kConnecting, kOpen, kDraining, kDead };

  explicit StreamLimiter(size_t cap) : cap_(cap) {}

  State state() const { return state_; }
  size_t active() const { return active_; }
  size_t cap() const { return cap_; }
  // False after a head came over HTTP/1.1.
  bool multiplexed() const { return multiplexed_; }

  // How many transfers may start now.
  size_t free_capacity() const;

  // The events of a transfer: it was started, it went out, it ended.
  void Start();
  void Sent();
  void End(bool sent);
  // A response's head came. HTTP/1.1 takes one request at a time.
  void HeadCame(bool multiplexed);
  // A transfer that was started found no room on the connection. Its End() still follows.
  void Refused();
  void Drain();
  void Die() { state_ = State::kDead; }

 private:
  State state_ = State::kConnecting;
  size_t active_ = 0;
  size_t cap_;
  bool multiplexed_ = true;
  size_t on_connection_ = 0;
  size_t most_on_connection_ = 0;
};

}  // namespace mandate
