#include "manager/transport/exchange.h"

#include "manager/core/not_sent.h"

namespace mandate {

void Exchange::End(absl::Status status) {
  if (over_) return;
  over_ = true;
  OnEnd(Marked(std::move(status)));
}

void Exchange::EndEarly(absl::Status status) {
  if (over_) return;
  // A callee of OnEnd() may drop the last reference.
  const std::shared_ptr<Exchange> self = shared_from_this();
  DropSilently();
  OnEnd(Marked(std::move(status)));
}

void Exchange::EndOverdue(absl::Status status) {
  if (over_) return;
  overdue_ = true;
  EndEarly(std::move(status));
}

void Exchange::DropSilently() {
  if (over_) return;
  over_ = true;
  if (const auto drop = std::exchange(drop_, nullptr)) drop();
}

absl::Status Exchange::Marked(absl::Status status) const {
  return maybe_served_ ? status : NotSent(std::move(status));
}

bool Exchange::GiveUp(absl::Status reason) {
  reason_ = std::move(reason);
  return false;
}

}  // namespace mandate
