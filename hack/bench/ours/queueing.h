// The tasks without a server: B1 and B2.
#ifndef HACK_BENCH_OURS_QUEUEING_H_
#define HACK_BENCH_OURS_QUEUEING_H_

#include "absl/status/status.h"

namespace mandate::bench {

// B1: `keys` different requests are added by one thread; another takes each and is done with it.
absl::Status AddGetDone(int keys);

// B2: the events of `keys` objects, through a whole controller with `workers`, to a reconciler that
// does nothing.
absl::Status EmptyReconciles(int keys, int workers);

}  // namespace mandate::bench

#endif  // HACK_BENCH_OURS_QUEUEING_H_
