// One request at a test server, and the handler's means of answering it.
#ifndef MANAGER_TRANSPORT_TESTING_SERVER_STREAM_H_
#define MANAGER_TRANSPORT_TESTING_SERVER_STREAM_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "manager/core/executor.h"

namespace mandate {

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

struct ServerRequest {
  // The value of the first header of this lower-case name; empty: there is none.
  std::string_view Header(std::string_view name) const;

  std::string method;
  std::string target;   // path and query
  HttpHeaders headers;  // names in lower case
  std::string body;
  uint64_t connection = 0;         // which connection of the server, from 1
  std::string client_common_name;  // of the verified client certificate; empty: none
};

// What a connection's protocol does for a stream. Server's loop only.
class ServerStreamWriter {
 public:
  virtual ~ServerStreamWriter() = default;
  virtual void Open(uint64_t stream, int code, const HttpHeaders& headers) = 0;
  virtual void Send(uint64_t stream, std::string bytes) = 0;
  virtual void End(uint64_t stream) = 0;
  virtual void Reset(uint64_t stream, uint32_t error_code) = 0;
};

// Thread-safe: what is called outside the server's loop happens there soon, in order. After the
// stream is closed everything does nothing.
class ServerStream : public std::enable_shared_from_this<ServerStream> {
 public:
  ServerStream(Loop& loop, std::weak_ptr<ServerStreamWriter> writer, uint64_t id,
               ServerRequest request);

  const ServerRequest& request() const { return request_; }

  // The whole answer.
  void Respond(int code, std::string body, HttpHeaders headers = JsonHeaders());
  // The answer piece by piece.
  void Open(int code = 200, HttpHeaders headers = JsonHeaders());
  void Send(std::string bytes);
  void End();
  // RST_STREAM with an HTTP/2 error code; over HTTP/1.1, the connection is closed.
  void Reset(uint32_t error_code);

  // Ended, reset by either side, or its connection closed.
  bool closed() const { return closed_; }

  // Runs `callback` as a task of the server's loop once the stream is closed. Server's loop only.
  void OnClosed(std::function<void()> callback) { on_closed_ = std::move(callback); }

  // For the connection.
  void MarkClosed();

  static HttpHeaders JsonHeaders() { return {{"content-type", "application/json"}}; }

 private:
  void Do(std::function<void(ServerStreamWriter&)> work);

  Loop& loop_;  // outlives this
  const std::weak_ptr<ServerStreamWriter> writer_;
  const uint64_t id_;
  const ServerRequest request_;
  std::atomic<bool> closed_ = false;
  std::function<void()> on_closed_;
};

// Called on the server's loop for each complete request; may keep the stream and answer any time.
using ServerHandler = std::function<void(std::shared_ptr<ServerStream>)>;

}  // namespace mandate

#endif  // MANAGER_TRANSPORT_TESTING_SERVER_STREAM_H_
