// A request whose response goes to a StreamSink as it comes.
#pragma once

#include <memory>
#include <string_view>

#include "absl/status/status.h"
#include "manager/core/executor.h"
#include "manager/transport/active_request.h"
#include "manager/transport/http_options.h"
#include "manager/transport/sink_gate.h"
#include "manager/transport/transport.h"

namespace mandate {

// Loop thread only.
class ActiveStream : public ActiveRequest {
 public:
  // `loop` outlives this.
  ActiveStream(Loop& loop, HttpRequest request, std::shared_ptr<StreamSink> sink);

  // The client's end. The request ends when no head has come within `time_to_headers`.
  std::unique_ptr<Stream> Bind(absl::Duration time_to_headers);

  bool OnHeaders(const HttpResponse& head) override;
  bool OnBody(std::string_view bytes) override;

 private:
  class Handle;

  // The client has destroyed its Stream.
  void Cancel();
  void OnEnd(absl::Status status) override;

  Loop& loop_;
  SinkGate gate_;
  std::unique_ptr<Loop::Timer> no_head_;
};

}  // namespace mandate
