// Keeps workers free: objects whose writes take long, as behind a webhook that does not answer, are
// reconciled a few at once, and the others find a worker.
//
//   SlowObjects::Turn turn(slow_objects, key, now);
//   if (turn.waits_still()) return turn.Later();
//   … plan …
//   if (it revokes something) turn.NoteRevocation();
//   if (turn.later() && there is something to write) {
//     if (it revokes something in targets that turn.IsQuick() && turn.TakeEarly()) {
//       … write that, with little patience, until a write takes long …
//       turn.EndEarly(/*slow=*/a write took long, where it wrote);
//     }
//     return turn.Later();
//   }
//   … write, with little patience unless turn.at_work() …
//   if (it wrote) turn.End(/*slow=*/a write took long, where it wrote);
#ifndef CONTROLLERS_SLOW_OBJECTS_H_
#define CONTROLLERS_SLOW_OBJECTS_H_

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
  // When a reconcile that has to wait for its turn is tried again.
  static constexpr absl::Duration kLater = absl::Milliseconds(500);
  // An object that has not come back for this long loses its place.
  static constexpr absl::Duration kLapse = absl::Seconds(5);
  // How often an object that waits is planned again.
  static constexpr absl::Duration kPlanAgain = absl::Seconds(5);
  // Every fourth turn goes to the object that has waited longest, whatever it waits for.
  static constexpr size_t kOldestsTurn = 4;
  // How many waiting objects write early at once: each may turn out to be slow.
  static constexpr size_t kEarlyAtOnce = 1;
  // Of an object: one with more slow targets writes nothing early.
  static constexpr size_t kMaxSlowTargets = 1000;
  // After a status that took long to write: for how long nothing is reported ahead of the object's
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

    // The object's writes took long the last time.
    bool slow() const { return slow_; }
    // It is slow and has a turn: the answers are waited for.
    bool at_work() const { return at_work_; }
    // It is slow and has no turn: others are at work, or have waited for longer.
    bool later() const { return slow_ && !at_work_; }
    // The same, and it waited already: it need not be planned again. It is planned again when it
    // comes back early, as an event brings it, and each kPlanAgain: there may be something new to
    // revoke.
    bool waits_still() const { return waits_still_; }
    // The object waits, or works, to revoke something: its turn comes before that of others'
    // grants.
    void NoteRevocation() { revokes_ = true; }
    // Whether a write of `object` is known neither to take long, nor to fail. Of those of a slow
    // object, such a revocation is sent before its turn.
    bool IsQuick(const ObjectKey& object) const;
    // Whether the object may write early now: at most kEarlyAtOnce do, and who has found a slow
    // target does not before its turn. Where others write early, it is planned again.
    bool TakeEarly();
    void EndEarly(bool slow, const TriedTargets& tried);
    // The result of a reconcile that waits. Without this call the object loses its place.
    Result Later();
    // Whether a write has taken long this time, and where it wrote; called neither when nothing was
    // written nor with Later().
    void End(bool slow, const TriedTargets& tried = {});

    // Its status has taken long to write, less than kNoReports ago.
    bool reports_slowly() const { return reports_slowly_; }
    void NoteSlowReport();

   private:
    SlowObjects& all_;
    const ObjectKey& key_;
    const absl::Time now_;
    bool slow_ = false;
    bool at_work_ = false;  // as one of the slow
    bool waits_still_ = false;
    bool waits_ = false;
    bool early_ = false;
    bool revokes_ = false;
    bool reports_slowly_ = false;
  };

  // At least one slow object is at work, whatever `at_once`.
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
    bool found_early = false;  // one of them, since the object's last turn
  };

  enum class Answer { kAtWork, kWaits, kWaitsStill };
  Answer Admit(const ObjectKey& key, absl::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Remembers where the object's writes are not quick.
  static void Note(const TriedTargets& tried, Slow& of);
  // How many of those that wait have their turn before this one; the end: a newcomer.
  size_t AheadOf(std::vector<Waiting>::const_iterator one) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const int at_once_;
  Mutex mutex_;
  size_t early_ ABSL_GUARDED_BY(mutex_) = 0;
  size_t at_work_ ABSL_GUARDED_BY(mutex_) = 0;
  size_t turns_ ABSL_GUARDED_BY(mutex_) = 0;  // of those that waited
  absl::flat_hash_map<ObjectKey, Slow> slow_ ABSL_GUARDED_BY(mutex_);
  std::vector<Waiting> waiting_ ABSL_GUARDED_BY(mutex_);  // who came first is first
  absl::flat_hash_map<ObjectKey, absl::Time> no_reports_ ABSL_GUARDED_BY(mutex_);  // until then
};

}  // namespace mandate

#endif  // CONTROLLERS_SLOW_OBJECTS_H_
