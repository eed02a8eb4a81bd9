// Metrics of the process, with the names of the Prometheus client libraries.
#pragma once

#include "manager/core/metrics.h"
#include "manager/core/mutex.h"

namespace mandate {

// From /proc. A file that cannot be read leaves its metric unchanged. Thread-safe.
class ProcessMetrics {
 public:
  explicit ProcessMetrics(Metrics& metrics);

  // Reads the values again.
  void Update();

 private:
  Mutex mutex_;
  double cpu_seconds_counted_ ABSL_GUARDED_BY(mutex_) = 0;
  prometheus::Counter& cpu_seconds_;
  prometheus::Gauge& resident_bytes_;
  prometheus::Gauge& virtual_bytes_;
  prometheus::Gauge& open_fds_;
  prometheus::Gauge& max_fds_;
  prometheus::Gauge& start_time_;
  prometheus::Gauge& threads_;
};

}  // namespace mandate
