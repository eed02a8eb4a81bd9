#include "manager/transport/sink_gate.h"

namespace mandate {

bool SinkGate::Open(const HttpResponse& head) {
  if (!live_ || opened_) return live_;
  opened_ = true;
  // The copy keeps the sink alive during the call, which may destroy its Stream.
  const std::shared_ptr<StreamSink> sink = sink_;
  return Accept(sink->OnOpen(head));
}

bool SinkGate::Data(std::string_view bytes) {
  if (!live_) return false;
  const std::shared_ptr<StreamSink> sink = sink_;
  return Accept(sink->OnData(bytes));
}

bool SinkGate::Accept(StreamSink::Flow flow) {
  if (flow == StreamSink::Flow::kCancel) live_ = false;
  return live_;
}

void SinkGate::Release() {
  live_ = false;
  released_ = sink_;
  sink_.reset();
}

void SinkGate::Close(absl::Status status) {
  if (closed_) return;
  closed_ = true;
  live_ = false;
  const std::shared_ptr<StreamSink> sink = sink_ != nullptr ? std::move(sink_) : released_.lock();
  sink_.reset();
  if (sink != nullptr) sink->OnClosed(std::move(status));
}

}  // namespace mandate
