// How a work queue that was full gets what it refused: all objects are gone through again, in as
// many parts as needed for each to fit.
#ifndef MANAGER_CONTROLLER_REFILL_H_
#define MANAGER_CONTROLLER_REFILL_H_

#include <cstddef>

#include "absl/hash/hash.h"
#include "manager/controller/request.h"

namespace mandate {

// Not thread-safe.
class Refill {
 public:
  // From the first refusal until the last part went through without one.
  bool active() const { return refused_ || parts_ > 1; }

  // Whether a request of the present pass over all objects is in its part.
  bool Wants(const Request& request) const {
    return parts_ == 1 || absl::HashOf(request) % parts_ == part_;
  }

  void OnRefused() { refused_ = true; }

  // To be called when the queue has room and a pass is over: true asks for a pass; false: done. A
  // part in which something was refused makes it start anew with twice as many.
  bool NextPart() {
    if (refused_) {
      refused_ = false;
      parts_ *= 2;
      part_ = 0;
      return true;
    }
    if (++part_ < parts_) return true;
    parts_ = 1;
    part_ = 0;
    return false;
  }

 private:
  bool refused_ = false;
  size_t parts_ = 1;
  size_t part_ = 0;
};

}  // namespace mandate

#endif  // MANAGER_CONTROLLER_REFILL_H_
