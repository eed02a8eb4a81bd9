// A request as a test sees it, and the server's end of a stream of FakeTransport.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "manager/core/executor.h"
#include "manager/transport/active_stream.h"
#include "manager/transport/transport.h"

namespace mandate {

struct RecordedRequest {
  RecordedRequest(absl::Time when, const HttpRequest& request, bool stream);

  // The value of the first header of this name, in any case; null: no such header.
  const std::string* Header(std::string_view name) const;

  absl::Time time;
  bool is_stream;
  std::shared_ptr<const Endpoint> endpoint;
  // The token in the clear, for tests. Nullopt: the endpoint's certificate authenticates the
  // request.
  std::optional<std::string> token;
  std::string method;
  std::string target;
  std::string user_agent;
  std::string accept;
  std::string content_type;
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;
};

// Events reach the sink as tasks of the loop, in order. After the stream is closed or cancelled
// they are dropped. Same threads as FakeTransport, which creates it.
class FakeStream : public std::enable_shared_from_this<FakeStream> {
 public:
  FakeStream(Loop& loop, HttpRequest request, std::shared_ptr<StreamSink> sink);

  // Sends the response's head.
  void Open(int code = 200, std::string content_type = "application/json");
  void Open(HttpResponse head);
  void Send(std::string bytes);
  // OK: the server ended the stream; kUnavailable: the connection failed.
  void Close(absl::Status status = absl::OkStatus());

  // Runs `callback`, as a task of the loop, if the client cancels the stream.
  void OnCancelled(std::function<void()> callback) { on_cancelled_ = std::move(callback); }

  const RecordedRequest& request() const { return request_; }
  // Whether the sink got OnOpen.
  bool opened() const { return opened_; }
  // Whether the client cancelled the stream: its Stream is destroyed, or the sink returned kCancel.
  bool cancelled() const { return cancelled_; }
  // Whether either side ended it, or is about to: nothing that is sent now would arrive.
  bool ended() const { return ending_; }

 private:
  friend class FakeTransport;

  // The client's end; destroying it cancels.
  std::unique_ptr<Stream> NewHandle(absl::Duration time_to_headers);
  // Runs `event` on the client's request; it returns whether to continue.
  void Deliver(absl::AnyInvocable<bool(ActiveStream&)> event);
  // The client ends the stream.
  void Drop();
  bool DeliverHead(const HttpResponse& head);

  Loop& loop_;
  const RecordedRequest request_;
  const std::shared_ptr<ActiveStream> active_;
  std::function<void()> on_cancelled_;
  bool opened_ = false;
  bool cancelled_ = false;
  bool ending_ = false;
};

}  // namespace mandate
