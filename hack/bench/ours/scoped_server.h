// The fake server of B15, as a measured program asks it: through the driver, so that the program
// has no connection but the measured ones.
#pragma once

#include <string_view>

#include "absl/status/statusor.h"

namespace mandate::bench {

// The numbers of /bench/stats since the last reset.
struct ServerStats {
  double watches, lists, reviews, requests;  // requests is the sum of the three
  double connections;                        // clients' addresses
  double open;                               // watches now
  double bookmarks, bookmark_bytes;          // in frames
  double sent, received;                     // bytes, with those of TLS
  double closed, closed_in_one_second;       // watches; the latter is the most in any second
  double version;                            // of the newest object
};

// Writes "ask PATH" to standard output, and reads the driver's answer from standard input: the
// server has done what /bench/PATH says.
absl::Status TellServer(std::string_view path);
absl::StatusOr<ServerStats> AskServer();

}  // namespace mandate::bench
