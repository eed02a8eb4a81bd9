// What becomes of a request that was reconciled.
#ifndef MANAGER_CONTROLLER_OUTCOME_H_
#define MANAGER_CONTROLLER_OUTCOME_H_

#include "absl/time/time.h"

namespace mandate {

struct Outcome {
  enum class Next { kNothing, kRequeueAfter, kRetry };
  Next next = Next::kNothing;
  absl::Duration after;  // of kRequeueAfter: when; of kRetry: not before
};

}  // namespace mandate

#endif  // MANAGER_CONTROLLER_OUTCOME_H_
