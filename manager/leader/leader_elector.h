// Decides which of several processes works: the holder of a Lease.
//
// The rules are client-go's (k8s.io/client-go/tools/leaderelection). The lease of another
// process expires by our own clock: its duration begins when we last saw the Lease change.
// Clocks need not agree, but must run at about the same speed.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <stop_token>
#include <string>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "manager/client/rest_client.h"
#include "manager/core/executor.h"
#include "manager/core/log.h"
#include "manager/core/metrics.h"
#include "manager/core/mutex.h"
#include "manager/core/weak_self.h"
#include "manager/leader/lease_client.h"
#include "manager/object/kinds/coordination_v1.h"

namespace mandate {

// Loop thread only, unless a function says otherwise.
class LeaderElector {
 public:
  enum class State {
    kIdle,      // not started
    kFollower,  // tries to get the Lease
    kLeader,    // holds the Lease
    kLost,      // held the Lease; terminal: the process must end
    kStopped,   // Stop() was called; terminal
  };

  struct Options {
    ObjectKey lease;       // created if it does not exist
    std::string identity;  // unique to the process: "host_uuid"
    // Others may take the Lease this long after they last saw it change.
    absl::Duration lease_duration = absl::Seconds(15);
    // A leader that cannot renew for this long has lost the Lease.
    absl::Duration renew_deadline = absl::Seconds(10);
    // A leader renews this often; a follower tries at intervals of [1, 2.2) times this.
    absl::Duration retry_period = absl::Seconds(2);

    RestClient* client = nullptr;  // base's; outlives this
    Metrics* metrics = nullptr;    // outlives this
    Logger log = {};
    uint64_t seed = 0;  // for the jitter

    // Both are called at most once, on the loop. They must not destroy the elector.
    std::function<void()> on_leading = {};
    std::function<void(const absl::Status& why)> on_lost = {};
    // The Lease has an earlier resource version than before: the server was restored from a backup.
    // Called on the loop. It must not destroy the elector.
    std::function<void()> on_restored = {};
  };

  // kInvalidArgument unless lease_duration > renew_deadline > 1.2 * retry_period, with
  // lease_duration in whole seconds.
  static absl::StatusOr<std::unique_ptr<LeaderElector>> Create(Options options);
  ~LeaderElector();

  // Begins to try. Call it once.
  void Start();
  // Ends trying or leading, and releases the Lease if it is ours, so that others need not wait.
  // Call it after the leader's work has ended. Bounded by renew_deadline. `done` runs on the loop,
  // once, never inside this call. on_lost is not called any more.
  void Stop(absl::AnyInvocable<void() &&> done);

  State state() const { return state_; }
  // The last known holder; "" if none is known.
  const std::string& holder() const { return observed_.spec().holderidentity(); }

  // OK when leading or standing by; otherwise the reason why neither is possible. Any thread.
  absl::Status status() const;

 private:
  using Lease = coordinationv1::Lease;

  explicit LeaderElector(Options options);
  absl::Time Now() const { return loop_.clock().TimeNow(); }
  // The server keeps microseconds.
  absl::Time WallNow() const {
    return absl::FromUnixMicros(absl::ToUnixMicros(loop_.clock().WallTimeNow()));
  }

  // One attempt: Try -> (fast: Update) -> Get -> (Create) -> Update -> Succeed or Fail.
  void Try();
  void TryFast();
  void TrySlow();
  void OnMissing(const absl::Status& why);
  void OnRead(absl::StatusOr<Lease> lease);
  void Succeed(absl::Time sent);
  void Fail(const absl::Status& why);
  void Lose(const absl::Status& why);
  void ScheduleTry(absl::Duration delay);

  // The Lease as it will be when we hold it.
  Lease Claimed() const;
  void Observe(const Lease& lease);
  // Whether another process held the Lease when it was last read, and the Lease has not expired. A
  // Lease expires one lease duration after this process saw its last change. So, when a leader
  // finds another holder in the Lease, that Lease never looks expired to it.
  bool HeldByOther() const;

  void Release();
  void FinishStop();

  CallContext RequestContext() const;
  // A callback that runs `then` unless the elector is destroyed or has begun something else.
  template <class Then>
  LeaseClient::Done Guarded(Then then);
  void SetStatus(const absl::Status& status);

  const Options options_;
  Loop& loop_;
  LeaseClient client_;
  const Logger log_;
  prometheus::Gauge& master_;
  prometheus::Counter& slow_paths_;
  std::mt19937_64 random_;

  State state_ = State::kIdle;
  Lease observed_;
  absl::Time observed_at_;
  bool missing_ = false;  // at the last reading
  std::string announced_holder_;
  // Leader: the time at which the last successful renewal was sent, and the deadline of this one.
  absl::Time renewed_at_;
  absl::Time give_up_at_;
  absl::Status last_failure_;
  std::unique_ptr<Loop::Timer> timer_;
  std::stop_source in_flight_;
  bool updating_ = false;  // a follower's update is in flight
  uint64_t turn_ = 0;      // Guarded() compares it
  absl::Time release_by_;
  absl::AnyInvocable<void() &&> stopped_;
  WeakSelf weak_;

  mutable Mutex mutex_;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace mandate
