// The part of B6 that does not depend on this project: the server, the kernel, TLS, and waking a
// thread.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace mandate::bench {

// One thread waits for a socket, decrypts the data, finds the times that the server wrote into
// `events` events, and wakes another thread for each. It parses only the heads of HTTP/2 frames,
// and no objects. Any client that reads and reconciles on different threads has at least this cost.
absl::Status Floor(const std::string& kubeconfig, int events);

}  // namespace mandate::bench
