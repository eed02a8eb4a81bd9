// G1 to G4 and G12: what open streams cost.
#pragma once

#include "absl/status/status.h"
#include "hack/bench/ours/rig.h"

namespace mandate::bench {

// G1, G2: the streams and requests of a workload, and the time until all are synced.
absl::Status Streams(const Rig::Options& options, int workload, int size);

// G4: the memory of each demand of W3 that attaches to a stream of another owner.
absl::Status AttachedDemands(const Rig::Options& options, int size);

// G3, G4: the memory of an idle stream of W1, and the traffic of its bookmarks. The server has no
// objects, and sends a bookmark for each stream every `bookmarks`.
absl::Status Idle(const Rig::Options& options, int size, absl::Duration bookmarks);

// G3: the requests that renew the proofs of access of idle streams, and their traffic. Measured
// with a proof that lasts for `lifetime`, and scaled to one that lasts as long as by default.
absl::Status Renewals(const Rig::Options& options, int size, absl::Duration lifetime);

// G12: how fast the streams of W1 are closed when the manager stops.
absl::Status Stop(const Rig::Options& options, int size);

}  // namespace mandate::bench
