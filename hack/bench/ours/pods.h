// The task that fills the cache with Pods and reads them: B14.
#pragma once

#include "absl/status/status.h"
#include "hack/bench/ours/rig.h"

namespace mandate::bench {

// The CPU and wall-clock time until `objects` Pods are in the cache, the memory per Pod, and the
// time of `reads` reads of random Pods, as bytes and decoded.
absl::Status Pods(const Rig::Options& options, int objects, int reads);

}  // namespace mandate::bench
