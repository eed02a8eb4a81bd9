// G7: events while scopes that cover the same objects open and close.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "hack/bench/ours/rig.h"

namespace mandate::bench {

// At each step a random one of four demands (cluster, namespace, two objects) opens or closes while
// the namespace's objects change. Counts, over all sinks, the events that came twice or went back,
// and the objects whose newest version a synced sink does not have.
absl::Status Switches(const Rig::Options& options, int objects, int steps, uint64_t seed);

}  // namespace mandate::bench
