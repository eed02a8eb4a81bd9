// The protocol of one connection of a test server, independent of its socket.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/time/time.h"
#include "manager/core/executor.h"
#include "manager/transport/testing/server_stream.h"

namespace mandate {

// Takes and gives bytes. Server's loop only.
class ServerSession : public ServerStreamWriter {
 public:
  // The response to a request with a body as soon as its head has come, followed by RST_STREAM
  // (NO_ERROR). A 401 comes with GOAWAY, as API servers send it. Over HTTP/1.1: with "Connection:
  // close", and the rest is read and dropped for a while.
  struct EarlyAnswer {
    int code = 0;
    std::string body;
    bool at_once = false;  // false: the head goes out before the rest (HTTP/2)
  };
  struct Context {
    Loop& loop;
    ServerHandler handler;
    uint64_t connection;
    std::string client_common_name;
    std::optional<EarlyAnswer> early_answer = std::nullopt;
    std::function<void()> answered_early;
    // There is something to write, or done() has changed. Handlers cause it, perhaps inside
    // Receive().
    std::function<void()> wants_to_write;
  };

  // False: the client broke the protocol; close the connection.
  virtual bool Receive(std::string_view bytes) = 0;
  // Appends about `limit` bytes to send.
  virtual void Collect(std::string& out, size_t limit) = 0;
  // Nothing more will come: close after everything is written and this time has passed.
  virtual bool done() const = 0;
  virtual absl::Duration linger() const = 0;
  struct GoAwayFrame {
    uint32_t error_code = 0;  // RFC 9113, 7
    // The last request that is served; nullopt: the last that was taken so far.
    std::optional<uint64_t> last = std::nullopt;
  };
  // Asks the client to open no more streams here. Open streams up to the last continue. May be
  // called again, with a lower last. Over HTTP/1.1: "Connection: close" with the next response.
  virtual void GoAway(GoAwayFrame frame) = 0;
  virtual size_t open_streams() const = 0;
  // The socket is closed.
  virtual void CloseStreams() = 0;
};

std::shared_ptr<ServerSession> NewHttp2Session(ServerSession::Context context,
                                               uint32_t max_concurrent_streams);
std::shared_ptr<ServerSession> NewHttp1Session(ServerSession::Context context);

}  // namespace mandate
