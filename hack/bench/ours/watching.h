// The tasks that list and watch: B3 to B6 and B10.
#pragma once

#include "absl/status/status.h"
#include "hack/bench/ours/rig.h"

namespace mandate::bench {

// B3, B4: the time until `objects` are in the cache, the CPU time since the process started, and
// the memory per object.
absl::Status Sync(const Rig::Options& options, int objects);

// B5: a synced cache of `objects` gets `events` events, which the driver releases when it reads
// "ready".
absl::Status Storm(const Rig::Options& options, int objects, int events);

// B6: like B5, through a controller: the time from the event's annotation to the reconciler.
absl::Status Latency(const Rig::Options& options, int objects, int events);

// B10: every component demands the same kind.
absl::Status Identities(const Rig::Options& options, int objects);

}  // namespace mandate::bench
