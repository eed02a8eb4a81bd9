// G2: the first read of a new demand, and reads of what is there.
#pragma once

#include "absl/status/status.h"
#include "hack/bench/ours/rig.h"

namespace mandate::bench {

// Demands and reads one ConfigMap in each of `namespaces`, then reads one of them `reads` times.
absl::Status FirstAndWarmReads(const Rig::Options& options, int namespaces, int reads);

}  // namespace mandate::bench
