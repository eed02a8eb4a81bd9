// Asks again and again whether a component holds what it declares, until it does; and again when
// the server refuses something of it.
#ifndef MANAGER_PREFLIGHT_LOOP_H_
#define MANAGER_PREFLIGHT_LOOP_H_

#include <functional>
#include <memory>
#include <random>
#include <stop_token>
#include <string_view>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "manager/client/rest_client.h"
#include "manager/core/backoff.h"
#include "manager/core/executor.h"
#include "manager/core/metrics.h"
#include "manager/preflight.h"

namespace mandate {

// Each pass runs on the pool; the timer on the loop. Once nothing is missing, it
// asks no more until Recheck(): a grant that is taken away later shows in the requests that need
// it.
//
// Create, Start(), Recheck() and destroy it on the loop.
class PreflightLoop {
 public:
  struct Options {
    RestClient* client = nullptr;
    Executor* workers = nullptr;  // both outlive this, and the pool its tasks
    PreflightOptions preflight;
    absl::Duration retry = absl::Seconds(15);
    // One pass, of all the reviews.
    absl::Duration timeout = absl::Seconds(30);
    // From a pass of Recheck()'s that found nothing missing to the next: a 403 may have other
    // reasons than RBAC, and come often. Back to the beginning when something is missing, and after
    // `max` of quiet.
    Backoff::Options quiet = {
        .initial = absl::Seconds(15), .factor = 2, .max = absl::Minutes(5), .jitter = 0.2};
    uint64_t seed = 0;  // of the jitter
    // mandate_preflight_passes_total{identity,outcome}; may be null, else outlives this.
    Metrics* metrics = nullptr;
    // What each pass found, OK or why not; on the loop. May destroy this.
    std::function<void(absl::Status)> report;
  };

  explicit PreflightLoop(Options options);
  // A pass that runs is cancelled and reports nothing more.
  ~PreflightLoop();

  void Start();
  // The server has refused what the component declares: a grant may have been taken away.
  void Recheck();

  // "scope-instance".
  std::string_view component() const;

 private:
  struct State;
  static void RunPass(const std::shared_ptr<State>& state);
  static void RunPassAt(const std::shared_ptr<State>& state, absl::Time when);
  static void EndPass(const std::shared_ptr<State>& state, const absl::Status& found);

  std::shared_ptr<State> state_;
};

}  // namespace mandate

#endif  // MANAGER_PREFLIGHT_LOOP_H_
