// Work of a component that no request starts: a server, a poll, a clean-up.
//
//   {.name = "sweep", .run = [](const CallContext& context) { … return absl::OkStatus(); }}
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "manager/core/backoff.h"
#include "manager/core/call_context.h"
#include "manager/core/executor.h"
#include "manager/core/log.h"
#include "manager/core/metrics.h"

namespace mandate {

struct Runnable {
  std::string name;  // lower case; unique in its component
  // It runs while this process leads. Otherwise it runs on every replica, also on a standby, and
  // another replica's may run at the same time.
  bool needs_leader = true;
  // Has a thread of the component's own, and may block. It must return soon once the context's stop
  // is requested. OK: it is done, and does not run again. An error or an exception is logged, and
  // it runs again after a delay.
  std::function<absl::Status(const CallContext&)> run;
};

// A Runnable that runs, again and again as long as it fails. Thread-safe.
class RunningRunnable {
 public:
  struct Options {
    Runnable runnable;
    std::string component;
    Loop* loop = nullptr;
    Executor* pool = nullptr;
    Metrics* metrics = nullptr;  // the three outlive this
    Logger log = {};
    uint64_t seed = 0;  // of jitter
    Backoff::Options retry = {
        .initial = absl::Seconds(1), .factor = 2, .max = absl::Minutes(5), .jitter = 0.2};
  };

  // kInvalidArgument: the name is not a DNS label, or it has nothing to run.
  static absl::StatusOr<std::unique_ptr<RunningRunnable>> Create(Options options);
  // To be called after Stop(), or without Start().
  ~RunningRunnable();

  // Once; does not block.
  void Start();
  // The first half of Stop(); does not wait.
  void RequestStop();
  // Requests its stop, and waits until it has returned. Not on the loop, which must still run.
  // kDeadlineExceeded: it still ran at `deadline` (of Clock::TimeNow()).
  absl::Status Stop(absl::Time deadline);

  // OK, or kUnavailable with the last error while it waits for its next try.
  absl::Status Ready() const;
  const std::string& name() const;
  bool needs_leader() const;

 private:
  class Core;
  explicit RunningRunnable(std::shared_ptr<Core> core);

  const std::shared_ptr<Core> core_;  // shared with tasks on the loop and the pool
};

}  // namespace mandate
