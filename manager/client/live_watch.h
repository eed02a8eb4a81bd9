// Reads the changes of a kind from one open watch.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "manager/client/rest_client.h"
#include "manager/core/call_context.h"
#include "manager/object/kind.h"
#include "manager/object/watch_frame.h"

namespace mandate {

struct LiveWatchOptions {
  std::string ns = {};  // empty: all namespaces, or a cluster-scoped kind
  std::string label_selector = {};
  std::string field_selector = {};
  // Only changes after this version, which List, ForEach or an earlier event returned. Empty: first
  // kAdded for each object that exists, then the changes.
  std::string resource_version = {};
  // The bound of what has come and `fn` has not taken.
  size_t max_buffered = size_t{8} << 20;
};

// One event of a typed watch.
template <class T>
struct LiveEvent {
  WatchEventType type = WatchEventType::kBookmark;  // kAdded, kModified, kDeleted, kBookmark
  T object = {};                                    // empty for kBookmark
  // From which another watch goes on after this event.
  std::string resource_version = {};
};

// Calls `each` on the calling thread with kAdded, kModified, kDeleted and kBookmark events, until
// the server ends the watch (OK, after nine minutes or less), `context` ends, or an
// error comes: of `each`; 410 (IsGone()) when the version has expired: list again; kUnavailable
// when the connection failed; kResourceExhausted when `each` is too slow. It is not opened again:
// the caller decides, with the last event's version. The cache does all this, and many components
// share its watches. Errors before the first event are RestClient's. Not on the loop. Thread-safe.
absl::Status ReadLiveWatch(const CallContext& context, RestClient& rest, const KindInfo& kind,
                           const LiveWatchOptions& options,
                           const std::function<absl::Status(const WatchEvent&)>& each);

}  // namespace mandate
