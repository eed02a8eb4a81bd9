// One request at a test server, and the means to answer it.
#pragma once

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
  // The value of the first header of this lower-case name; empty: no such header.
  std::string_view Header(std::string_view name) const;

  std::string method;
  std::string target;   // path and query
  HttpHeaders headers;  // names in lower case
  std::string body;
  uint64_t connection = 0;         // the number of its connection, from 1
  std::string client_common_name;  // of the verified client certificate; empty: no certificate
};

// Writes a stream by the protocol of its connection. Server's loop only.
class ServerStreamWriter {
 public:
  virtual ~ServerStreamWriter() = default;
  virtual void Open(uint64_t stream, int code, const HttpHeaders& headers) = 0;
  virtual void Send(uint64_t stream, std::string bytes) = 0;
  virtual void End(uint64_t stream) = 0;
  virtual void Reset(uint64_t stream, uint32_t error_code) = 0;
};

// Thread-safe: calls from other threads take effect on the server's loop soon, in order. After the
// stream is closed they do nothing.
class ServerStream : public std::enable_shared_from_this<ServerStream> {
 public:
  ServerStream(Loop& loop, std::weak_ptr<ServerStreamWriter> writer, uint64_t id,
               ServerRequest request);

  const ServerRequest& request() const { return request_; }

  // Sends the whole response.
  void Respond(int code, std::string body, HttpHeaders headers = JsonHeaders());
  // These send the response in pieces.
  void Open(int code = 200, HttpHeaders headers = JsonHeaders());
  void Send(std::string bytes);
  void End();
  // Sends RST_STREAM with an HTTP/2 error code. Over HTTP/1.1 the connection is closed.
  void Reset(uint32_t error_code);

  // Whether it ended, was reset by either side, or lost its connection.
  bool closed() const { return closed_; }

  // Runs `callback` as a task of the server's loop after the stream is closed. Server's loop only.
  void OnClosed(std::function<void()> callback) { on_closed_ = std::move(callback); }

  // For the connection only.
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

// Called on the server's loop for each complete request. It may keep the stream and answer at any
// time.
using ServerHandler = std::function<void(std::shared_ptr<ServerStream>)>;

}  // namespace mandate
