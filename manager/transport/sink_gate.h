// Keeps the contract of a stream's sink: OnOpen once, OnClosed exactly once and last, and only
// OnClosed after the client has destroyed its Stream.
#pragma once

#include <memory>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "manager/transport/transport.h"

namespace mandate {

// The sink's callbacks may do anything, destroying its Stream included. Loop thread only.
class SinkGate {
 public:
  explicit SinkGate(std::shared_ptr<StreamSink> sink) : sink_(std::move(sink)) {}

  // Both return whether to continue. False: cancel the stream, and call Close() from another task.
  bool Open(const HttpResponse& head);
  bool Data(std::string_view bytes);

  // The client has destroyed its Stream. From now on the sink gets only its end, and only if
  // another owner keeps the sink alive.
  void Release();

  // Every call after the first does nothing.
  void Close(absl::Status status);

  // Whether the sink still wants something.
  bool live() const { return live_; }
  bool opened() const { return opened_; }
  bool closed() const { return closed_; }

 private:
  bool Accept(StreamSink::Flow flow);

  std::shared_ptr<StreamSink> sink_;  // null after Release() or Close()
  std::weak_ptr<StreamSink> released_;
  bool live_ = true;
  bool opened_ = false;
  bool closed_ = false;
};

}  // namespace mandate
