// Carries out the writes of one object in portions, so that many or slow writes do not hold up the
// writes of another object.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "controllers/retry_delays.h"
#include "controllers/write_log.h"
#include "controllers/write_target.h"
#include "manager/controller/reconciler.h"
#include "manager/core/call_context.h"
#include "manager/core/clock.h"
#include "manager/core/mutex.h"
#include "manager/object/kind.h"

namespace mandate {

// The objects whose write has failed, and the API server's response to the first of them.
struct FailedWrites {
  absl::flat_hash_set<ObjectKey> keys;
  std::string first;
};

// One pass over the writes for an object. A grant that has failed is tried again in the next round,
// after all other grants. A revocation does not wait for grants: when a portion has tried all
// revocations, the next portion tries the failed ones again.
struct WriteRound {
  std::string of;  // the versions of the plan's objects; other versions start a new round
  bool begun = false;
  size_t others = 0;  // other objects with an unfinished round
  FailedWrites grants;
  FailedWrites revoking_fixes;
  FailedWrites removals;
  bool revocations_tried = false;
  // The API server's Retry-After for one of the writes ends at this time. Only the next round waits
  // for it; the other writes of this round continue.
  absl::Time not_before = absl::InfinitePast();
};

struct PortionLimits {
  // The limits of successful writes, and of tries for each of the plan's lists.
  size_t max_writes = 200;
  // The same for the first portion of a round, and for each portion while many objects have
  // unfinished rounds: these share max_writes. So an object with a few writes does not wait long
  // for others with many.
  size_t first_writes = 5;
  // The time for each list, and the time that a portion without `patient` waits for a response: a
  // server, or its webhook, may be slow or send Retry-After.
  absl::Duration max_time = absl::Seconds(2);
};

// The writes of one reconcile, and their outcome. Not thread-safe.
class Portion {
 public:
  // `clock` and `round` outlive this. `patient`: it waits for responses without a limit.
  Portion(const Clock& clock, PortionLimits limits, WriteRound& round, bool patient = true);

  // Stops a list before its next write if `is_outdated`: the plan's objects were edited, and the
  // next portion writes the new plan.
  void StopWhen(std::function<bool()> is_outdated) { is_outdated_ = std::move(is_outdated); }
  // Leaves all grants to the next portion.
  void LeaveGrants() { leaves_grants_ = true; }

  // Calls `write`, then `after`, for each item of `list` whose `key` is not in `failed`. Stops at a
  // limit. An item whose write does not call NoteSuccess() is added to `failed`. Returns true if
  // every item was tried. If `patient` is false, the first write that times out ends the list;
  // later lists then send only revocations. The next portion retries the rest.
  template <class List, class Key, class Write, class After>
  bool Each(const List& list, const Key& key, FailedWrites& failed, const Write& write,
            const After& after);
  // Writes the object's status within the time of one write of the plan. If it runs out of time
  // without `patient`, the result is OK and the next portion retries it.
  absl::Status Report(const CallContext& context,
                      absl::FunctionRef<absl::Status(const CallContext&)> report);
  // For `write`: the context of one request.
  CallContext ForRequest(const CallContext& context) const;
  // For `write`: count each request, and each request that the API server accepted.
  void NoteRequest() { ++requests_; }
  void NoteSuccess() { ++successes_; }
  // For `write`: the earliest time of the next fix of an object that another writer keeps changing.
  void NoteWait(absl::Duration wait);

  // This portion's limit.
  size_t max_writes() const { return max_writes_; }
  bool patient() const { return patient_; }
  // Whether it is the first portion of its round.
  bool is_first() const { return !several_; }
  WriteRound& round() { return round_; }
  WriteLog& log() { return log_; }
  // The failures of creating and fixing, and of deleting, to report: those of this portion or, at
  // the end of a round of several portions, a summary.
  std::vector<std::string> failures() const;
  std::vector<std::string> removal_failures() const;
  // Whether the next reconcile has to do the rest of the writes.
  bool unfinished() const { return unfinished_; }
  // Whether a write was tried; whether a write was slow: half of the time of a list.
  bool tried() const { return requests_ > 0; }
  bool slow() const { return slow_ || reported_slowly_; }
  bool reported_slowly() const { return reported_slowly_; }
  const TriedTargets& tried_targets() const { return tried_targets_; }
  // At the end of a round: the API server's Retry-After, at most kLongestRetry. Zero if there is
  // none, or if the round continues.
  absl::Duration RetryAfter() const;
  // An error that the reconcile returns instead of the result of WriteRounds::ResultOf().
  absl::Status RequeueError(const absl::Status& error) const;

 private:
  friend class WriteRounds;
  struct Known {
    size_t failures, removals;
  };

  // Whether failures of earlier portions count too. The log has those of a round of one.
  bool failed_in_several() const;
  Known KnownFailures() const;
  void NoteFailure(const ObjectKey& key, const Known& before, FailedWrites& failed) const;
  void NoteTarget(const ObjectKey& key, bool quick);
  void NoteRetryAfter();
  bool IsLong(absl::Time begun) const { return clock_.TimeNow() - begun >= limits_.max_time / 2; }

  const Clock& clock_;
  const PortionLimits limits_;
  const size_t max_writes_;
  WriteRound& round_;
  const bool patient_;
  const bool several_;
  std::function<bool()> is_outdated_;
  WriteLog log_;
  size_t requests_ = 0;
  size_t successes_ = 0;
  bool leaves_grants_ = false;
  bool unfinished_ = false;
  bool slow_ = false;
  bool cut_short_ = false;
  bool reported_slowly_ = false;
  TriedTargets tried_targets_;
  absl::Duration wait_ = absl::ZeroDuration();  // zero if there is no wait
};

// The unfinished rounds of a controller's objects, and when its reconciles are tried again.
// Thread-safe.
class WriteRounds {
 public:
  // The unfinished round of the last reconcile, or a new one if that was `of` other versions.
  WriteRound Take(const ObjectKey& key, std::string of);
  // The result of the reconcile. Keeps an unfinished round. Otherwise the next try respects the API
  // server's Retry-After, unless an event starts it earlier.
  absl::StatusOr<Result> ResultOf(const ObjectKey& key, Portion& portion);
  void Forget(const ObjectKey& key);

 private:
  absl::StatusOr<Result> NextTry(const ObjectKey& key, const Portion& portion);

  RetryDelays denied_;
  Mutex mutex_;
  absl::flat_hash_map<ObjectKey, WriteRound> rounds_ ABSL_GUARDED_BY(mutex_);
};

// Requests another reconcile after `after`, if this is sooner; zero requests none.
void RequeueWithin(absl::Duration after, Result& result);
// The error of a reconcile that would have returned `result`: the next try does not come sooner
// than `result` requests.
absl::Status NotBefore(const Result& result, const absl::Status& error);

template <class List, class Key, class Write, class After>
bool Portion::Each(const List& list, const Key& key, FailedWrites& failed, const Write& write,
                   const After& after) {
  const absl::Time end = clock_.TimeNow() + limits_.max_time;
  const size_t requests_before = requests_;
  const bool grants = &failed == &round_.grants;
  for (const auto& one : list) {
    if (failed.keys.contains(std::invoke(key, one))) continue;
    if (successes_ >= max_writes_ || requests_ - requests_before >= max_writes_ ||
        clock_.TimeNow() >= end || (grants && (cut_short_ || leaves_grants_)) ||
        (is_outdated_ && is_outdated_())) {
      unfinished_ = true;
      return false;
    }
    const size_t successes = successes_, requests = requests_;
    const Known before = KnownFailures();
    const absl::Time begun = clock_.TimeNow();
    write(one);
    const bool cut_short = log_.TakeCutShort();
    cut_short_ = cut_short_ || cut_short;
    const bool slow = cut_short || IsLong(begun);
    slow_ = slow_ || slow;
    if (requests_ > requests) {
      NoteTarget(std::invoke(key, one), !slow && successes_ > successes);
    }
    NoteRetryAfter();
    if (cut_short) {
      unfinished_ = true;
      return false;
    }
    if (successes_ == successes) NoteFailure(std::invoke(key, one), before, failed);
    after();
  }
  return true;
}

}  // namespace mandate
