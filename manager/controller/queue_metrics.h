// The work queue's metrics: client-go's names, with the component's identity.
//
// The queue counts in plain numbers under its own lock, and moves them here every half second: a
// histogram of the library would cost more than the queue itself.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>

#include "absl/time/time.h"
#include "manager/core/metrics.h"

namespace mandate {

// A histogram with buckets of 10 ns, 100 ns, … 1000 s. Not thread-safe.
class DurationCounts {
 public:
  static constexpr int kBounds = 12;

  void Observe(int64_t nanoseconds);
  // Adds the observations, and clears them.
  void MoveTo(prometheus::Histogram& histogram);
  static prometheus::Histogram::BucketBoundaries Bounds();

 private:
  std::array<uint64_t, kBounds + 1> counts_{};
  double sum_ = 0;  // in ns
};

// Counts since the last update. Not thread-safe.
struct QueueCounts {
  uint64_t adds = 0;
  uint64_t retries = 0;
  uint64_t rejected = 0;
  DurationCounts queued;
  DurationCounts worked;
};

// Values at the moment of the update.
struct QueueGauges {
  std::map<int, size_t> depth;  // by priority
  absl::Duration unfinished;    // summed over the running ones
  absl::Duration longest;
};

// The metrics of one queue. Thread-safe.
class QueueMetrics {
 public:
  // The number of priorities that have their own series. One more series sums the depths of the
  // rest.
  static constexpr size_t kMaxPriorities = 25;

  QueueMetrics(Metrics& metrics, const std::string& name, const std::string& identity);

  void Update(QueueCounts counts, const QueueGauges& gauges);

 private:
  Metrics& metrics_;
  Labels labels_;
  std::map<int, prometheus::Gauge*> depth_;
  prometheus::Gauge* other_depth_ = nullptr;
  prometheus::Counter& adds_;
  prometheus::Counter& retries_;
  prometheus::Counter& rejected_;
  prometheus::Histogram& queued_;
  prometheus::Histogram& worked_;
  prometheus::Gauge& unfinished_;
  prometheus::Gauge& longest_;
};

}  // namespace mandate
