// Keeps workers free: only a few objects with slow writes, as behind a webhook that does not
// answer, are reconciled at the same time.
//
//   SlowObjects::Turn turn(slow_objects, key, now);
//   if (turn.still_waiting()) return turn.RequeueLater();
//   … plan …
//   if (it revokes something) turn.NoteRevocation();
//   if (turn.must_wait() && there is something to write) {
//     if (it revokes something in targets that turn.IsQuick() && turn.TakeEarly()) {
//       … write that, with little patience, until a write takes long …
//       turn.EndEarly(/*slow=*/a write took long, where it wrote);
//     }
//     return turn.RequeueLater();
//   }
//   … write, with little patience unless turn.has_slot() …
//   if (it wrote) turn.End(/*slow=*/a write took long, where it wrote);
#pragma once

#include <cstddef>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/time/time.h"
#include "controllers/write_target.h"
#include "manager/controller/reconciler.h"
#include "manager/core/mutex.h"
#include "manager/object/kind.h"

namespace mandate {

// Thread-safe.
class SlowObjects {
 public:
  // The delay before a reconcile that has to wait for its turn is repeated.
  static constexpr absl::Duration kLater = absl::Milliseconds(500);
  // An object whose reconcile was not repeated for this time loses its place.
  static constexpr absl::Duration kLapse = absl::Seconds(5);
  // The interval in which a waiting object is planned again.
  static constexpr absl::Duration kPlanAgain = absl::Seconds(5);
  // Every fourth turn is for the object that has waited longest, even without a revocation.
  static constexpr size_t kOldestsTurn = 4;
  // The number of waiting objects that write early at the same time: each may be slow.
  static constexpr size_t kEarlyAtOnce = 1;
  // An object with more slow targets than this writes nothing early.
  static constexpr size_t kMaxSlowTargets = 1000;
  // The time after a slow write of the status in which no status is written before the object's
  // writes.
  static constexpr absl::Duration kNoReports = absl::Minutes(10);

  // One reconcile of an object. Not thread-safe.
  class Turn {
   public:
    // `all` and `key` outlive this.
    Turn(SlowObjects& all, const ObjectKey& key, absl::Time now);
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

    // Whether the object's last writes were slow.
    bool slow() const { return slow_; }
    // Whether it is slow and has a slot, so that it waits for responses.
    bool has_slot() const { return has_slot_; }
    // Whether it is slow and has no slot: others have them, or have waited for longer.
    bool must_wait() const { return slow_ && !has_slot_; }
    // The same for an object that was waiting already and needs no new plan. It needs one if an
    // event repeats its reconcile early, and every kPlanAgain, because it may have new revocations.
    bool still_waiting() const { return still_waiting_; }
    // Notes that the object has a revocation, so its turn comes before that of others' grants.
    void NoteRevocation() { revokes_ = true; }
    // Whether a write of `object` is not known to be slow or to fail. A slow object sends such a
    // revocation before its turn.
    bool IsQuick(const ObjectKey& object) const;
    // Whether the object may write early now: at most kEarlyAtOnce objects do, and none that has
    // found a slow target since its last turn. If others write early, it is planned again.
    bool TakeEarly();
    void EndEarly(bool slow, const TriedTargets& tried);
    // The result of a reconcile that waits. Without this call the object loses its place.
    Result RequeueLater();
    // Notes whether a write was slow, and the targets. Not called without a write or with
    // RequeueLater().
    void End(bool slow, const TriedTargets& tried = {});

    // Whether a write of its status was slow less than kNoReports ago.
    bool reports_slowly() const { return reports_slowly_; }
    void NoteSlowReport();

   private:
    SlowObjects& all_;
    const ObjectKey& key_;
    const absl::Time now_;
    bool slow_ = false;
    bool has_slot_ = false;  // as a slow object
    bool still_waiting_ = false;
    bool waits_ = false;
    bool early_ = false;
    bool revokes_ = false;
    bool reports_slowly_ = false;
  };

  // At least one slow object has a slot, whatever `at_once`.
  explicit SlowObjects(int at_once) : at_once_(at_once) {}

 private:
  struct Waiting {
    ObjectKey key;
    absl::Time asked;
    absl::Time planned;
    bool revokes = false;
  };
  struct Slow {
    absl::flat_hash_set<ObjectKey> targets;
    bool found_early = false;  // a slow target, since the object's last turn
  };

  enum class Answer { kHasSlot, kWaits, kStillWaiting };
  Answer Admit(const ObjectKey& key, absl::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Records the targets where the object's writes are not quick.
  static void Note(const TriedTargets& tried, Slow& of);
  // The number of waiting objects whose turn comes before this one; the end for a new one.
  size_t AheadOf(std::vector<Waiting>::const_iterator one) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const int at_once_;
  Mutex mutex_;
  size_t early_ ABSL_GUARDED_BY(mutex_) = 0;
  size_t used_slots_ ABSL_GUARDED_BY(mutex_) = 0;
  size_t turns_ ABSL_GUARDED_BY(mutex_) = 0;  // the number of turns of waiting objects
  absl::flat_hash_map<ObjectKey, Slow> slow_ ABSL_GUARDED_BY(mutex_);
  std::vector<Waiting> waiting_ ABSL_GUARDED_BY(mutex_);  // in the order of arrival
  absl::flat_hash_map<ObjectKey, absl::Time> no_reports_ ABSL_GUARDED_BY(mutex_);  // until then
};

}  // namespace mandate
