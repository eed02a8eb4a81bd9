// Reads the log of a pod's container as it comes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "manager/client/rest_client.h"
#include "manager/core/call_context.h"
#include "manager/object/kind.h"

namespace mandate {

struct LogOptions {
  std::string container = {};  // may be empty if the pod has only one
  bool follow = false;         // waits for new lines until the container ends
  bool previous = false;       // the log of the container's instance before the last restart
  bool timestamps = false;     // each line begins with its time (RFC 3339)
  std::optional<int64_t> tail_lines = std::nullopt;    // only the last lines
  std::optional<absl::Duration> since = std::nullopt;  // only so far back, in whole seconds
  std::optional<int64_t> limit_bytes = std::nullopt;   // the server stops there
  // The bound of what has come and `sink` has not taken.
  size_t max_buffered = size_t{8} << 20;
};

// Gets bytes of a log, cut anywhere. An error ends the log and is its result.
using PodLogSink = std::function<absl::Status(std::string_view bytes)>;

// Calls `sink` on the calling thread, until the log ends (OK), `context` ends (kCancelled,
// kDeadlineExceeded), or an error comes. A context without a deadline has no limit of time.
//
// A stream is never paused, so that one reader does not hold up others on its connection: when
// `sink` is so slow that more than max_buffered bytes wait, the log ends with kResourceExhausted.
// Read on with `since`. The request is sent once: after kUnavailable, too, the caller decides where
// to read on. What came before an error goes to `sink` first.
//
// The log of a pod that has no node yet is empty. Errors before the first byte are RestClient's,
// and kInvalidArgument for an incomplete key; 400 if the pod has several containers and none is
// named. A log counts as one of the component's watches (ClientOptions::max_watches). Blocks the
// calling thread: not on the loop. Thread-safe.
absl::Status ReadPodLog(const CallContext& context, RestClient& rest, const ObjectKey& pod,
                        const LogOptions& options, const PodLogSink& sink);

}  // namespace mandate
