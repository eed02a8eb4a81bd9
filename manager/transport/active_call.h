// A request whose response is collected and delivered whole, unless its body has a sink.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string_view>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "manager/core/call_context.h"
#include "manager/core/executor.h"
#include "manager/core/pending.h"
#include "manager/transport/active_request.h"
#include "manager/transport/http_options.h"
#include "manager/transport/transport.h"

namespace mandate {

// Loop thread only.
class ActiveCall : public ActiveRequest {
 public:
  // `loop`, `options` and `stats` outlive this.
  ActiveCall(Loop& loop, const HttpOptions& options, HttpStats& stats, HttpRequest request,
             Transport::Done done);
  ~ActiveCall() override;

  // Ends the call at the context's deadline or stop, but never inside Bind().
  void Bind(const CallContext& context);

  bool OnHeaders(const HttpResponse& head) override;
  bool OnBody(std::string_view bytes) override;
  bool AcceptTruncatedResponse() override;

 private:
  void OnEnd(absl::Status status) override;

  Loop& loop_;
  const HttpOptions& options_;
  HttpStats& stats_;
  Pending<absl::StatusOr<HttpResponse>> pending_;
  HttpResponse response_;
  BodySink* sink_ = nullptr;  // the request's sink, once it takes this response
  bool has_head_ = false;
};

}  // namespace mandate
