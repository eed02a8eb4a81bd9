// G11: how fast events get into the store and to their owners.
#pragma once

#include "absl/status/status.h"

namespace mandate::bench {

// Applies `events` changes of the objects of 100 namespaces, each of which has a stream of its own
// and 10 owners, and finds the owners of each. On one thread, without a server; the frames are
// parsed before, or (`parse`) meanwhile. With `selectors`, each owner selects one object.
absl::Status ApplyAndRoute(int events, bool parse, bool selectors);

}  // namespace mandate::bench
