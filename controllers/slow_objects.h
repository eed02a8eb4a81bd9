// Keeps workers free: objects whose writes take long, as behind a webhook that does not answer, are
// reconciled a few at once, and the others find a worker.
//
//   SlowObjects::Turn turn(slow_objects, key);
//   if (turn.later()) return Result{SlowObjects::kLater};
//   … write, with little patience unless turn.slow() …
//   if (it wrote) turn.End(/*slow=*/a write took long);
#ifndef CONTROLLERS_SLOW_OBJECTS_H_
#define CONTROLLERS_SLOW_OBJECTS_H_

#include "absl/container/flat_hash_set.h"
#include "absl/time/time.h"
#include "manager/core/mutex.h"
#include "manager/object/kind.h"

namespace mandate {

// Thread-safe.
class SlowObjects {
 public:
  // When a reconcile that has to wait for its turn is tried again.
  static constexpr absl::Duration kLater = absl::Milliseconds(500);

  // One reconcile of an object. Not thread-safe.
  class Turn {
   public:
    Turn(SlowObjects& all, const ObjectKey& key);  // both outlive this
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

    // The object's writes took long the last time: the answers are waited for.
    bool slow() const { return slow_; }
    // So they did, and as many as may are at work.
    bool later() const { return slow_ && !at_work_; }
    // What its writes were like this time; not called when there were none.
    void End(bool slow);

   private:
    SlowObjects& all_;
    const ObjectKey& key_;
    bool slow_ = false;
    bool at_work_ = false;  // as one of the slow
  };

  // At least one slow object is at work, whatever `at_once`.
  explicit SlowObjects(int at_once) : at_once_(at_once) {}

 private:
  const int at_once_;
  Mutex mutex_;
  int at_work_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::flat_hash_set<ObjectKey> slow_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace mandate

#endif  // CONTROLLERS_SLOW_OBJECTS_H_
