// How long a Memcached whose write was denied waits for the next try.
#pragma once

#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/time/time.h"
#include "manager/core/mutex.h"
#include "manager/object/kind.h"

namespace mandate::memcached {

// No event reports that a write is permitted now, or that a quota has room. The Memcacheds of one
// namespace share its tries: many of them, which a quota denies for ever, ask no more often than a
// few, and those of other namespaces do not wait for them. Thread-safe.
class DeniedWrites {
 public:
  static constexpr absl::Duration kShortest = absl::Seconds(10);
  // Between two tries of a namespace.
  static constexpr absl::Duration kInterval = absl::Milliseconds(200);

  // Its write was denied. Returns how long it waits.
  absl::Duration Add(const ObjectKey& key);
  // It was written, or is gone.
  void Remove(const ObjectKey& key);

 private:
  Mutex mutex_;
  // By namespace; none is empty.
  absl::flat_hash_map<std::string, absl::flat_hash_set<std::string>> names_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace mandate::memcached
