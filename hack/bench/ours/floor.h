// What remains of B6 without this project: the server, the kernel, TLS, and waking a thread.
#ifndef HACK_BENCH_OURS_FLOOR_H_
#define HACK_BENCH_OURS_FLOOR_H_

#include <string>

#include "absl/status/status.h"

namespace mandate::bench {

// One thread waits for a socket, decrypts, looks for the times that the server wrote into `events`
// events, and wakes another for each. Of HTTP/2 it sees the heads of frames, and of an object
// nothing: what any client pays that reconciles elsewhere than it reads.
absl::Status Floor(const std::string& kubeconfig, int events);

}  // namespace mandate::bench

#endif  // HACK_BENCH_OURS_FLOOR_H_
