// The first parameter of each function that can wait: its deadline, and a token to cancel it.
#pragma once

#include <algorithm>
#include <stop_token>

#include "absl/time/time.h"

namespace mandate {

// A value; copies are independent but watch the same stop source.
struct CallContext {
  // In Clock::TimeNow()'s time.
  absl::Time deadline = absl::InfiniteFuture();
  std::stop_token stop;

  // A child may shorten the deadline, never extend it.
  CallContext WithDeadline(absl::Time other) const { return {std::min(deadline, other), stop}; }
};

}  // namespace mandate
