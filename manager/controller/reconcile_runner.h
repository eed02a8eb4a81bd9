// Runs reconciliations: deadline, exceptions, metrics and log lines.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <stop_token>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "manager/controller/controller_metrics.h"
#include "manager/controller/reconciler.h"
#include "manager/controller/request.h"
#include "manager/core/clock.h"
#include "manager/core/log.h"
#include "manager/core/mutex.h"
#include "manager/core/trace.h"

namespace mandate {

// Thread-safe.
class ReconcileRunner {
 public:
  struct Options {
    std::unique_ptr<Reconciler> reconciler;
    absl::Duration timeout;      // infinite: none
    const Clock* clock;          // outlives this
    ControllerMetrics* metrics;  // outlives this
    Logger log;
    uint64_t seed;  // of reconcile IDs
    std::string component = {};
    std::string controller = {};
    Tracer* tracer = nullptr;  // outlives this; null: nothing is traced
  };

  // The reconciliations that one worker runs without a break; the worker counts as active
  // meanwhile. The metrics of successes and of quick ones are added together at the end of the
  // batch: adding each would cost more than an empty reconcile. Keep a batch short. Not
  // thread-safe.
  class Batch {
   public:
    // `runner` outlives this. `stop` cancels the contexts.
    Batch(ReconcileRunner& runner, std::stop_token stop);
    ~Batch();
    Batch(const Batch&) = delete;
    Batch& operator=(const Batch&) = delete;

    // Blocks while the reconciler runs. Never throws. `now` is the time before the call, and is set
    // to the time after it.
    Outcome Run(const Request& request, absl::Time& now);

   private:
    void Observe(absl::Duration took);

    ReconcileRunner& runner_;
    ControllerMetrics& metrics_;
    CallContext context_;
    int successes_ = 0;
    int quick_ = 0;
    double quick_seconds_ = 0;
  };

  explicit ReconcileRunner(Options options);

 private:
  // The last errors of so many requests are remembered, so that retries are not logged again.
  static constexpr size_t kMaxFailing = 10'000;

  // The log of one reconciliation. Few write anything, so its ID is made when it is first used.
  class Log : public WorkLog {
   public:
    // Both outlive this.
    Log(ReconcileRunner& runner, const Request& request) : runner_(runner), request_(request) {}
    Logger logger() const override;
    std::string Id() const;

   private:
    std::string IdLocked() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

    ReconcileRunner& runner_;
    const Request& request_;
    mutable Mutex mutex_;
    mutable std::string id_ ABSL_GUARDED_BY(mutex_);
    mutable std::optional<Logger> logger_ ABSL_GUARDED_BY(mutex_);
  };

  // A trace of its own.
  Span StartSpan(const Request& request, const Log& log);
  absl::StatusOr<Result> Contained(const CallContext& context, const Request& request);
  std::string NewId();
  // Logs an error that is new for the request.
  void LogError(const Request& request, const absl::Status& status, absl::Duration took,
                const Log& log);
  void LogSuccess(const Request& request, absl::Duration took, const Log& log);

  const Options options_;

  Mutex mutex_;
  std::mt19937_64 random_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<Request, size_t> failing_ ABSL_GUARDED_BY(mutex_);  // to the error's hash
  // Whether failing_ holds anything: without errors, a success takes no lock. One request is never
  // reconciled twice at once, so that it sees its own entry.
  std::atomic<bool> any_failing_ = false;
};

}  // namespace mandate
