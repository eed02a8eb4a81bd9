// G8 to G10: what a component sees when its access ends and comes back.
#pragma once

#include "absl/status/status.h"
#include "hack/bench/ours/rig.h"

namespace mandate::bench {

// G8, G9: access to one namespace after the other ends and returns, `times` times; the cache gets a
// hint each time. Also the time of a read of another namespace meanwhile, compared with before.
absl::Status RevokedWithHint(Rig::Options options, int namespaces, int times);

// G8, G9: the same without a hint, for `namespaces` at once. A proof of access is valid for
// `proof_lifetime`, and denied access is asked for again after at most `probe_cap`.
absl::Status RevokedWithoutHint(Rig::Options options, int namespaces, absl::Duration proof_lifetime,
                                absl::Duration probe_cap);

// G10: the requests and log lines of `namespaces` that are all denied, for `window`, after all are
// known to be denied and `settle` has passed.
absl::Status AllDenied(Rig::Options options, int namespaces, absl::Duration settle,
                       absl::Duration window);

}  // namespace mandate::bench
