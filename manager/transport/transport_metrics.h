// The metrics of the transport and its event loop.
#pragma once

#include <functional>
#include <memory>
#include <tuple>
#include <vector>

#include "absl/time/time.h"
#include "manager/core/event_loop.h"
#include "manager/core/executor.h"
#include "manager/core/metrics.h"
#include "manager/transport/http_options.h"

namespace mandate {

// Copies the counters every `interval`: they may only be read on the loop, and a scrape must not
// wait for the loop. Identities share connections, so these metrics have no identity label; the
// client's rest_client_requests_total has. docs/transport.md lists the names.
//
// Loop thread only, construction excepted.
class TransportMetrics {
 public:
  using Stats = std::tuple<HttpStats, EventLoop::Stats>;
  struct Options {
    Loop* loop = nullptr;  // these three outlive this
    Metrics* metrics = nullptr;
    std::function<HttpStats()> transport;
    std::function<EventLoop::Stats()> loop_stats;
    absl::Duration interval = absl::Seconds(5);
  };

  explicit TransportMetrics(Options options);

  // Copies now, and then every `interval`.
  void Start();

 private:
  struct Count {
    prometheus::Counter* counter;
    std::function<double(const Stats&)> read;
    double counted = 0;
  };
  struct Level {
    prometheus::Gauge* gauge;
    std::function<double(const Stats&)> read;
  };

  void Copy();

  const Options options_;
  std::vector<Count> counts_;
  std::vector<Level> levels_;
  std::unique_ptr<Loop::Timer> timer_;
};

}  // namespace mandate
