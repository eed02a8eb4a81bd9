// Read errors in spite of which the rest is acted on, and which of them are reported.
#ifndef CONTROLLERS_SCOPE_UNREAD_H_
#define CONTROLLERS_SCOPE_UNREAD_H_

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "manager/core/mutex.h"
#include "manager/object/kind.h"

namespace mandate::scope {

// The component is not allowed to read an object, or the kind's watch is down.
// That one may be opened again in a moment, or never: a single object that the server cannot decode
// makes it answer 500 to each list and watch of the kind.
inline bool IsUnread(const absl::Status& status) {
  return absl::IsPermissionDenied(status) || absl::IsUnavailable(status);
}

// Since when the watches that objects' reconciles need have been down. A watch that is opened again
// within kReported is no news. Thread-safe.
class UnavailableSince {
 public:
  static constexpr absl::Duration kReported = absl::Seconds(10);

  // `error`: what a reconcile of the object could not read; OK: it has read everything. Returns
  // whether the object's condition may be written: not while it would report such a moment.
  bool MayReport(const ObjectKey& of, const absl::Status& error, absl::Time now);
  void Forget(const ObjectKey& of);

 private:
  Mutex mutex_;
  absl::flat_hash_map<ObjectKey, absl::Time> since_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace mandate::scope

#endif  // CONTROLLERS_SCOPE_UNREAD_H_
