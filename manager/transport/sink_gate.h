// Holds a stream's sink to its contract: OnOpen once, OnClosed exactly once and last, nothing but
// OnClosed once the client's Stream is gone.
#ifndef MANAGER_TRANSPORT_SINK_GATE_H_
#define MANAGER_TRANSPORT_SINK_GATE_H_

#include <memory>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "manager/transport/transport.h"

namespace mandate {

// The sink may do anything from its callbacks, destroying its Stream included. Loop thread only.
class SinkGate {
 public:
  explicit SinkGate(std::shared_ptr<StreamSink> sink) : sink_(std::move(sink)) {}

  // Both return whether to go on; false: cancel the stream, and Close() it from another task.
  bool Open(const HttpResponse& head);
  bool Data(std::string_view bytes);

  // The client's Stream is gone: from now on the sink is only told of the end, and only if
  // somebody else keeps it alive.
  void Release();

  // Every call but the first does nothing.
  void Close(absl::Status status);

  // Whether the sink still wants something.
  bool live() const { return live_; }
  bool opened() const { return opened_; }
  bool closed() const { return closed_; }

 private:
  bool Accept(StreamSink::Flow flow);

  std::shared_ptr<StreamSink> sink_;  // null once released or closed
  std::weak_ptr<StreamSink> released_;
  bool live_ = true;
  bool opened_ = false;
  bool closed_ = false;
};

}  // namespace mandate

#endif  // MANAGER_TRANSPORT_SINK_GATE_H_
