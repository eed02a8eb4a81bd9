// Reports turns of an event loop that take too long, with their labels.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "absl/time/time.h"
#include "manager/core/executor.h"
#include "manager/core/log.h"
#include "manager/core/loop_label.h"
#include "manager/core/metrics.h"

namespace mandate {

// Checks a loop's activity from another loop, whose thread stays free while the first one hangs. A
// long turn is reported while it runs, and again when it ends. A turn that begins and ends between
// two checks is reported, too. Everything except construction runs on `loop`.
class LoopWatchdog {
 public:
  struct Options {
    Loop* loop = nullptr;              // outlives this; not the one that is watched
    LoopActivity* activity = nullptr;  // of the watched one; outlives this
    Metrics* metrics = nullptr;        // null: none
    Logger log;
    // The minimum time between two log lines about new long turns. The next line has the number of
    // omitted turns. If a running turn was reported, its end is always reported, too.
    absl::Duration min_log_interval = absl::Minutes(1);
  };

  explicit LoopWatchdog(Options options);

  // From now on, checks twice in each LoopActivity::limit().
  void Start();

 private:
  void Look();
  // Returns false, and logs nothing, if the last line is too recent.
  bool Report(std::string_view message, const LoopActivity::Turn& turn);

  const Options options_;
  prometheus::Counter* const long_turns_;
  prometheus::Gauge* const held_;
  uint64_t counted_ = 0;
  uint64_t reported_ = 0;  // the turn whose end is to be reported
  uint64_t omitted_ = 0;   // the last turn that was not reported, to count it once
  int omissions_ = 0;      // since the last line
  absl::Time next_line_at_ = absl::InfinitePast();
  std::unique_ptr<Loop::Timer> timer_;
};

}  // namespace mandate
