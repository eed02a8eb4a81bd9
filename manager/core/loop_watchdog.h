// Reports a loop that is held up: which turn took too long, and what it did.
#ifndef MANAGER_CORE_LOOP_WATCHDOG_H_
#define MANAGER_CORE_LOOP_WATCHDOG_H_

#include <cstdint>
#include <memory>
#include <string_view>

#include "absl/time/time.h"
#include "manager/core/executor.h"
#include "manager/core/log.h"
#include "manager/core/loop_label.h"
#include "manager/core/metrics.h"

namespace mandate {

// Looks at a loop's activity from another loop, whose thread is free while the first one hangs: a
// turn is reported while it is still under way, and when it ends. A turn that began and ended
// between two looks is reported too. Runs on `loop`, construction excepted.
class LoopWatchdog {
 public:
  struct Options {
    Loop* loop = nullptr;              // outlives this; not the one that is watched
    LoopActivity* activity = nullptr;  // of the watched one; outlives this
    Metrics* metrics = nullptr;        // null: none
    Logger log;
    // At most one line about new trouble in this time: the next one says how many were omitted. A
    // turn that was reported while under way is always reported once more as it ends.
    absl::Duration quiet = absl::Minutes(1);
  };

  explicit LoopWatchdog(Options options);

  // Looks twice in each LoopActivity::limit() from now on.
  void Start();

 private:
  void Look();
  // False: not now, there was a line a moment ago.
  bool Report(std::string_view message, const LoopActivity::Turn& turn);

  const Options options_;
  prometheus::Counter* const long_turns_;
  prometheus::Gauge* const held_;
  uint64_t counted_ = 0;
  uint64_t reported_ = 0;  // the turn whose end is to be reported
  uint64_t omitted_ = 0;   // the last turn that was not reported, to count it once
  int omissions_ = 0;      // since the last line
  absl::Time speak_at_ = absl::InfinitePast();
  std::unique_ptr<Loop::Timer> timer_;
};

}  // namespace mandate

#endif  // MANAGER_CORE_LOOP_WATCHDOG_H_
