// A request to reconcile an object, and the outcome of its reconciliation.
#pragma once

#include <optional>
#include <utility>

#include "absl/time/time.h"
#include "manager/object/kind.h"

namespace mandate {

// The key of an object that may have changed, or be gone. It does not hold the state: a reconciler
// reads the state itself, so that requests can be merged.
struct Request {
  ObjectKey key;

  bool operator==(const Request&) const = default;
  auto operator<=>(const Request&) const = default;

  template <class H>
  friend H AbslHashValue(H h, const Request& request) {
    return H::combine(std::move(h), request.key);
  }
};

// Of the ready requests the one with the highest priority goes first.
inline constexpr int kDefaultPriority = 0;
// For what happens to the reconciled object itself, which a user waits for: other objects' events
// do not delay it.
inline constexpr int kHighPriority = 100;
// For initial lists and resyncs: new events go first.
inline constexpr int kLowPriority = -100;

struct Outcome {
  enum class Next { kNothing, kRequeueAfter, kRetry };
  Next next = Next::kNothing;
  absl::Duration after;                        // kRequeueAfter: when; kRetry: not before
  std::optional<int> priority = std::nullopt;  // kRequeueAfter: in place of the present one
};

}  // namespace mandate
