#include "manager/transport/exchange.h"

namespace mandate {

void Exchange::End(absl::Status status) {
  if (over_) return;
  over_ = true;
  drop_ = nullptr;
  OnEnd(std::move(status));
}

void Exchange::EndEarly(absl::Status status) {
  if (over_) return;
  // Whoever OnEnd() calls may let go of the last reference.
  const std::shared_ptr<Exchange> self = shared_from_this();
  DropSilently();
  OnEnd(std::move(status));
}

void Exchange::DropSilently() {
  if (over_) return;
  over_ = true;
  if (const auto drop = std::exchange(drop_, nullptr)) drop();
}

bool Exchange::GiveUp(absl::Status reason) {
  reason_ = std::move(reason);
  return false;
}

}  // namespace mandate
