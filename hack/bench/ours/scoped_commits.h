// G5, G6: what it costs to commit demands, and to open and close them.
#pragma once

#include "absl/status/status.h"
#include "hack/bench/ours/rig.h"

namespace mandate::bench {

// G5: an owner of `demands` commits the same ones again, then one more or one less.
absl::Status Commits(const Rig::Options& options, int demands, int commits);

// G5: the time to add a demand to an owner that has `few` or `many`, in a table without streams.
absl::Status Additions(int few, int many);

// G6: an owner demands one namespace after the other and releases it; each is synced once.
absl::Status Cycles(const Rig::Options& options, int namespaces, int cycles);

}  // namespace mandate::bench
