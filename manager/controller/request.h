// What to reconcile.
#ifndef MANAGER_CONTROLLER_REQUEST_H_
#define MANAGER_CONTROLLER_REQUEST_H_

#include <utility>

#include "manager/object/kind.h"

namespace mandate {

// The key of an object that may have changed, or be gone. No more: a reconciler reads the state
// itself, so that requests can be merged.
struct Request {
  ObjectKey key;

  bool operator==(const Request&) const = default;
  auto operator<=>(const Request&) const = default;

  template <class H>
  friend H AbslHashValue(H h, const Request& request) {
    return H::combine(std::move(h), request.key);
  }
};

}  // namespace mandate

#endif  // MANAGER_CONTROLLER_REQUEST_H_
