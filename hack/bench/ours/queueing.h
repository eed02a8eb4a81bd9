// The tasks that need no server: B1 and B2.
#pragma once

#include "absl/status/status.h"

namespace mandate::bench {

// B1: one thread adds `keys` different requests; another one takes each request and marks it as
// done.
absl::Status AddGetDone(int keys);

// B2: the events of `keys` objects pass through a complete controller with `workers` to a
// reconciler that does nothing.
absl::Status EmptyReconciles(int keys, int workers);

}  // namespace mandate::bench
