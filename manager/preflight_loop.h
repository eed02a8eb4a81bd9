// Asks again and again whether a component holds what it declares, until it does.
#ifndef MANAGER_PREFLIGHT_LOOP_H_
#define MANAGER_PREFLIGHT_LOOP_H_

#include <functional>
#include <memory>
#include <stop_token>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "manager/client/preflight.h"
#include "manager/client/rest_client.h"
#include "manager/core/executor.h"

namespace mandate {

// The reviews run on the pool, one at a time; the timer on the loop. Once nothing is missing, it
// asks no more: a grant that is taken away later shows in the requests that need it.
//
// Create(), Start() and destroy it on the loop.
class PreflightLoop {
 public:
  struct Options {
    RestClient* client = nullptr;
    Executor* workers = nullptr;  // both outlive this, and the pool its tasks
    PreflightOptions preflight;
    absl::Duration retry = absl::Seconds(15);
    // One pass, of all the reviews.
    absl::Duration timeout = absl::Seconds(30);
    // What each pass found, OK or why not; on the loop. May destroy this.
    std::function<void(absl::Status)> report;
  };

  explicit PreflightLoop(Options options);
  // A pass that runs is cancelled and reports nothing more.
  ~PreflightLoop();

  void Start();

 private:
  struct State;
  static void RunPass(const std::shared_ptr<State>& state);

  std::shared_ptr<State> state_;
};

}  // namespace mandate

#endif  // MANAGER_PREFLIGHT_LOOP_H_
