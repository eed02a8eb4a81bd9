// Read errors that do not stop a reconcile, and the choice of those that are reported.
#pragma once

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "manager/core/mutex.h"
#include "manager/object/kind.h"

namespace mandate::scope {

// Whether the component has no permission to read an object, or the kind's watch is down. Such a
// watch may open again in a moment, or never: one object that the server cannot decode makes it
// answer 500 to each list and watch of the kind.
inline bool IsReadUnavailable(const absl::Status& status) {
  return absl::IsPermissionDenied(status) || absl::IsUnavailable(status);
}

// Records since when the watches that objects' reconciles need have been down. A watch that opens
// again within kReported is not reported. Thread-safe.
class UnavailableSince {
 public:
  static constexpr absl::Duration kReported = absl::Seconds(10);

  // `error` is the read error of the object's reconcile, or OK. Returns whether the object's
  // condition may be written: not while it would report a watch that has been down for less than
  // kReported.
  bool MayReport(const ObjectKey& of, const absl::Status& error, absl::Time now);
  void Forget(const ObjectKey& of);

 private:
  Mutex mutex_;
  absl::flat_hash_map<ObjectKey, absl::Time> since_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace mandate::scope
