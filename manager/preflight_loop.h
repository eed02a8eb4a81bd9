// Repeats a check of permissions until it succeeds, and again when the server denies a request.
#pragma once

#include <functional>
#include <memory>
#include <random>
#include <stop_token>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "manager/core/backoff.h"
#include "manager/core/call_context.h"
#include "manager/core/executor.h"
#include "manager/core/metrics.h"

namespace mandate {

// A retried check. It runs on the pool, the timer on the loop. After the first check that
// found nothing missing it waits for Recheck(): a grant that is removed later shows in the requests
// that need it.
//
// Create, Start(), Recheck() and destroy it on the loop.
class PreflightLoop {
 public:
  struct Options {
    Loop* loop = nullptr;
    Executor* workers = nullptr;  // both outlive this, and the pool its tasks
    std::string component;        // "scope-instance", or "base"
    // One check, which may block. kFailedPrecondition: permissions are missing.
    std::function<absl::Status(const CallContext&)> check;
    // The delay between a check that failed and the next one.
    Backoff::Options retry = {
        .initial = absl::Seconds(15), .factor = 1, .max = absl::Seconds(15), .jitter = 0};
    // The limit of one check.
    absl::Duration timeout = absl::Seconds(30);
    // The delay between a check of Recheck() that found nothing missing and the next one: a 403 may
    // have other reasons than RBAC, and come often. Starts again when something is missing, and
    // after `max` without a Recheck().
    Backoff::Options recheck_backoff = {
        .initial = absl::Seconds(15), .factor = 2, .max = absl::Minutes(5), .jitter = 0.2};
    uint64_t seed = 0;  // of the jitter
    // mandate_preflight_checks_total{identity,outcome}; may be null, else outlives this.
    Metrics* metrics = nullptr;
    // The result of each check; on the loop. May destroy this.
    std::function<void(absl::Status)> report;
  };

  explicit PreflightLoop(Options options);
  // Cancels a check that runs; it reports nothing more.
  ~PreflightLoop();

  void Start();
  // The server denied what the component declares: a grant may have been removed.
  void Recheck();

  const std::string& component() const;

 private:
  struct State;
  static void RunCheck(const std::shared_ptr<State>& state);
  static void RunCheckAt(const std::shared_ptr<State>& state, absl::Time when);
  static void EndCheck(const std::shared_ptr<State>& state, const absl::Status& found);

  std::shared_ptr<State> state_;
};

}  // namespace mandate
