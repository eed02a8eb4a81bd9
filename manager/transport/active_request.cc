#include "manager/transport/active_request.h"

#include "manager/core/not_sent.h"

namespace mandate {

void ActiveRequest::End(absl::Status status) {
  if (ended_) return;
  ended_ = true;
  OnEnd(Marked(std::move(status)));
}

void ActiveRequest::EndEarly(absl::Status status) {
  if (ended_) return;
  // A function that OnEnd() calls may drop the last reference to this.
  const std::shared_ptr<ActiveRequest> self = shared_from_this();
  EndWithoutCall();
  OnEnd(Marked(std::move(status)));
}

void ActiveRequest::EndTimedOut(absl::Status status) {
  if (ended_) return;
  timed_out_ = true;
  EndEarly(std::move(status));
}

void ActiveRequest::EndWithoutCall() {
  if (ended_) return;
  ended_ = true;
  if (const auto drop = std::exchange(drop_, nullptr)) drop();
}

absl::Status ActiveRequest::Marked(absl::Status status) const {
  return maybe_processed_ ? status : MarkNotSent(std::move(status));
}

bool ActiveRequest::Fail(absl::Status reason) {
  reason_ = std::move(reason);
  return false;
}

}  // namespace mandate
