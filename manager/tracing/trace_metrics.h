// What became of the spans.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "absl/time/time.h"
#include "manager/core/metrics.h"
#include "manager/core/mutex.h"

namespace mandate {

// Why a span was dropped.
enum class SpanDrop {
  kQueueFull,  // its component had too many spans that were not sent yet
  kRejected,   // the collector's answer was final
  kTimeout,    // no collector accepted it in time
  kShutdown,   // the process ended
};

// The metrics of the exporter, made when they are first used. Thread-safe.
class TraceMetrics {
 public:
  // The registry outlives this.
  explicit TraceMetrics(Metrics& metrics);

  void CountExported(const std::string& component);
  void CountDropped(const std::string& component, SpanDrop reason);
  void SetQueued(const std::string& component, size_t spans);
  // A request that took `took`.
  void NoteRequest(absl::Duration took, bool ok);
  // Of a batch that was accepted in part.
  void CountRejectedInPart(double spans);

 private:
  struct OfComponent {
    prometheus::Counter& exported;
    prometheus::Gauge& queued;
    std::map<SpanDrop, prometheus::Counter*> dropped = {};
  };
  OfComponent& Of(const std::string& component) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  Metrics& metrics_;
  prometheus::Counter& rejected_in_part_;
  prometheus::Histogram& ok_seconds_;
  prometheus::Histogram& error_seconds_;
  Mutex mutex_;
  std::map<std::string, OfComponent> components_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace mandate
