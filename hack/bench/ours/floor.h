// What remains of B6 without this project: the server, the kernel and TLS.
#ifndef HACK_BENCH_OURS_FLOOR_H_
#define HACK_BENCH_OURS_FLOOR_H_

#include <string>

#include "absl/status/status.h"

namespace mandate::bench {

// One thread waits for one socket, decrypts, and looks for the times that the server wrote into
// `events` events. Of HTTP/2 it sees the heads of frames, of an object nothing, and it hands nothing
// to anybody: what any client pays.
absl::Status Floor(const std::string& kubeconfig, int events);

}  // namespace mandate::bench

#endif  // HACK_BENCH_OURS_FLOOR_H_
