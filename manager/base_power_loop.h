// Asks again and again what the manager's own credential may do, until the server answers.
#ifndef MANAGER_BASE_POWER_LOOP_H_
#define MANAGER_BASE_POWER_LOOP_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "manager/base_power.h"
#include "manager/client/rest_client.h"
#include "manager/core/backoff.h"
#include "manager/core/executor.h"

namespace mandate {

// A timer for the question that had no answer when the manager started. The reviews run on the
// pool, one at a time; the timer on the loop.
//
// Create and destroy it on the loop.
class BasePowerLoop {
 public:
  struct Options {
    RestClient* base = nullptr;
    Executor* workers = nullptr;  // both outlive this, and the pool its tasks
    std::string ns;
    // Before the first try, too. Soon at first: an administrator's credential works meanwhile.
    Backoff::Options retry = {
        .initial = absl::Seconds(1), .factor = 2, .max = absl::Minutes(5), .jitter = 0.2};
    // One try, of all the reviews.
    absl::Duration timeout = absl::Seconds(30);
    uint64_t seed = 0;  // of the jitter
    // The result of each try; on the loop. The first that is OK is the last.
    std::function<void(const absl::StatusOr<BasePower>&)> report;
  };

  explicit BasePowerLoop(Options options);
  // A try that runs is cancelled and reports nothing.
  ~BasePowerLoop();

 private:
  struct State;
  static void AskLater(const std::shared_ptr<State>& state);
  static void Ask(const std::shared_ptr<State>& state);

  std::shared_ptr<State> state_;
};

}  // namespace mandate

#endif  // MANAGER_BASE_POWER_LOOP_H_
