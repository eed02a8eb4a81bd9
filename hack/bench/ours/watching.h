// The tasks that list and watch: B3 to B6 and B10.
#ifndef HACK_BENCH_OURS_WATCHING_H_
#define HACK_BENCH_OURS_WATCHING_H_

#include "absl/status/status.h"
#include "hack/bench/ours/rig.h"

namespace mandate::bench {

// B3, B4: until `objects` are in the cache; CPU since the process began, memory for each of them.
absl::Status Sync(const Rig::Options& options, int objects);

// B5: a synced cache of `objects`, then `events` events that the driver releases once it reads
// "ready".
absl::Status Storm(const Rig::Options& options, int objects, int events);

// B6: the same through a controller; from the time in the event's annotation to the reconciler.
absl::Status Latency(const Rig::Options& options, int objects, int events);

// B10: every component demands the same kind.
absl::Status Identities(const Rig::Options& options, int objects);

}  // namespace mandate::bench

#endif  // HACK_BENCH_OURS_WATCHING_H_
