#include "manager/transport/active_call.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "manager/core/loop_label.h"

namespace mandate {

ActiveCall::ActiveCall(Loop& loop, const HttpOptions& options, HttpStats& stats,
                       HttpRequest request, Transport::Done done)
    : ActiveRequest(std::move(request)),
      loop_(loop),
      options_(options),
      stats_(stats),
      pending_(std::move(done)) {}

ActiveCall::~ActiveCall() = default;

void ActiveCall::Bind(const CallContext& context) {
  const absl::Time limit = loop_.clock().TimeNow() + options_.max_call_duration;
  const bool by_context = context.deadline <= limit;
  pending_.Arm(loop_, context.WithDeadline(limit), [this, by_context](absl::StatusCode why) {
    if (why == absl::StatusCode::kCancelled) {
      return EndEarly(absl::CancelledError("the call was cancelled"));
    }
    EndTimedOut(absl::DeadlineExceededError(
        absl::StrCat(request().method, " ", request().endpoint->server,
                     by_context ? ": the deadline passed before the response was complete"
                                : absl::StrCat(": the response was not complete after ",
                                               absl::FormatDuration(options_.max_call_duration),
                                               " (max_call_duration)"))));
  });
}

bool ActiveCall::OnHeaders(const HttpResponse& head) {
  if (ended()) return false;
  response_ = head;
  has_head_ = true;
  sink_ = head.code / 100 == 2 ? request().body_sink.get() : nullptr;
  if (sink_ != nullptr) sink_->OnHeaders(head);
  return true;
}

bool ActiveCall::OnBody(std::string_view bytes) {
  if (ended()) return false;
  if (sink_ != nullptr) {
    const LoopLabel label(request().user_agent, "body of a response");
    absl::Status status = sink_->OnBody(bytes);
    return status.ok() || Fail(std::move(status));
  }
  if (response_.body.size() + bytes.size() > options_.max_response_bytes) {
    ++stats_.limited_too_large;
    return Fail(absl::ResourceExhaustedError(
        absl::StrCat("the response is larger than ", options_.max_response_bytes,
                     " bytes, the limit: request it in pages (limit=)")));
  }
  response_.body.append(bytes);
  return true;
}

bool ActiveCall::AcceptTruncatedResponse() {
  // A server that rejects a request before it has read the body answers and then resets the stream
  // (RFC 9113, 8.1: NO_ERROR). libcurl 7.88 drops the bytes that it has not delivered by then. This
  // happens to almost every 401 that an API server answers to a POST, and only its code matters.
  if (!has_head_ || response_.code < 400) return false;
  response_.body.clear();
  return true;
}

void ActiveCall::OnEnd(absl::Status status) {
  if (status.ok() && !has_head_) status = absl::UnavailableError("the server sent no response");
  const LoopLabel label(request().user_agent, "response");
  Transport::Done done = pending_.Take();
  if (status.ok()) {
    std::move(done)(std::move(response_));
  } else {
    std::move(done)(std::move(status));
  }
}

}  // namespace mandate
