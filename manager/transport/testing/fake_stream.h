// The server's end of a stream of FakeTransport.
#ifndef MANAGER_TRANSPORT_TESTING_FAKE_STREAM_H_
#define MANAGER_TRANSPORT_TESTING_FAKE_STREAM_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "manager/core/executor.h"
#include "manager/transport/sink_gate.h"
#include "manager/transport/testing/recorded_request.h"
#include "manager/transport/transport.h"

namespace mandate {

// Events reach the sink as tasks of the loop, in order. After the stream is closed or cancelled
// they are dropped. Same threads as FakeTransport, which creates it.
class FakeStream : public std::enable_shared_from_this<FakeStream> {
 public:
  FakeStream(Loop& loop, RecordedRequest request, std::shared_ptr<StreamSink> sink);

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
  bool opened() const { return gate_.opened(); }
  // Whether the client cancelled the stream: its Stream is destroyed, or the sink returned kCancel.
  bool cancelled() const { return cancelled_; }
  // Whether either side ended it, or is about to: nothing that is sent now would arrive.
  bool ended() const { return ending_ || cancelled_; }

 private:
  friend class FakeTransport;
  class Handle;

  // The client's end; destroying it cancels.
  std::unique_ptr<Stream> NewHandle();
  void CloseUnlessOpenedBy(absl::Time deadline);
  // Runs `event` on the gate; it returns whether to continue.
  void Deliver(absl::AnyInvocable<bool(SinkGate&)> event);
  void Cancel();

  Loop& loop_;
  const RecordedRequest request_;
  SinkGate gate_;
  std::unique_ptr<Loop::Timer> no_head_;
  std::function<void()> on_cancelled_;
  bool cancelled_ = false;
  bool ending_ = false;
};

}  // namespace mandate

#endif  // MANAGER_TRANSPORT_TESTING_FAKE_STREAM_H_
