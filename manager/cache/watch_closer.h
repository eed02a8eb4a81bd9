// Closes the watches that are no longer needed, not all at once.
#pragma once

#include <deque>
#include <functional>
#include <memory>

#include "absl/time/time.h"
#include "manager/cache/loop_timer.h"
#include "manager/cache/watch_stream.h"
#include "manager/core/executor.h"
#include "manager/core/metrics.h"
#include "manager/core/token_bucket.h"

namespace mandate {

// An API server whose watches all end at the same time needs much memory for it
// (https://github.com/kubernetes/kubernetes/issues/102259). Loop thread only.
class WatchCloser {
 public:
  struct Options {
    // Less than 200 in the first second, also for an API server that sees some of them late.
    double per_second = 150;
    int burst = 40;
    // While more wait, the oldest is closed at once: each takes memory here, too.
    int max_waiting = 2000;
  };

  // Gauge: mandate_cache_watches_closing.
  WatchCloser(Options options, Loop& loop, Metrics& metrics);
  // Closes all at once.
  ~WatchCloser();

  // From now on the watch delivers nothing. It is closed in its turn, which may be now. Its client
  // outlives that.
  void Close(std::unique_ptr<WatchStream> watch);
  // Calls `done` once, when none waits any more; never inside this call. Those that still wait at
  // `deadline` are closed then.
  void Finish(absl::Time deadline, std::function<void()> done);

 private:
  void Run();

  const Options options_;
  Loop& loop_;
  prometheus::Gauge& closing_;
  TokenBucket tokens_;
  std::deque<std::unique_ptr<WatchStream>> waiting_;
  std::function<void()> done_;
  absl::Time deadline_ = absl::InfiniteFuture();
  LoopTimer timer_;
};

}  // namespace mandate
