#include "manager/controller/queue_metrics.h"

#include <vector>

namespace mandate {

void DurationCounts::Observe(int64_t nanoseconds) {
  int bucket = 0;
  for (int64_t bound = 10; bucket < kBounds && nanoseconds > bound; bound *= 10) ++bucket;
  ++counts_[static_cast<size_t>(bucket)];
  sum_ += static_cast<double>(nanoseconds);
}

void DurationCounts::MoveTo(prometheus::Histogram& histogram) {
  if (counts_ == decltype(counts_)()) return;
  histogram.ObserveMultiple(std::vector<double>(counts_.begin(), counts_.end()), sum_ / 1e9);
  *this = DurationCounts();
}

prometheus::Histogram::BucketBoundaries DurationCounts::Bounds() {
  prometheus::Histogram::BucketBoundaries bounds;
  for (int64_t bound = 10; bounds.size() < kBounds; bound *= 10) {
    bounds.push_back(static_cast<double>(bound) / 1e9);
  }
  return bounds;
}

QueueMetrics::QueueMetrics(Metrics& metrics, const std::string& name, const std::string& identity)
    : metrics_(metrics),
      labels_{{"name", name}, {"controller", name}, {"identity", identity}},
      adds_(metrics.Counter("workqueue_adds_total", "Total number of adds handled by workqueue",
                            labels_)),
      retries_(metrics.Counter("workqueue_retries_total",
                               "Total number of retries handled by workqueue", labels_)),
      rejected_(metrics.Counter("workqueue_rejected_total",
                                "Total number of adds rejected because the workqueue was full",
                                labels_)),
      queued_(metrics.Histogram("workqueue_queue_duration_seconds",
                                "How long in seconds an item stays in workqueue before being "
                                "requested",
                                labels_, DurationCounts::Bounds())),
      worked_(metrics.Histogram("workqueue_work_duration_seconds",
                                "How long in seconds processing an item from workqueue takes",
                                labels_, DurationCounts::Bounds())),
      unfinished_(metrics.Gauge("workqueue_unfinished_work_seconds",
                                "Seconds of work that is in progress and not observed by "
                                "workqueue_work_duration_seconds yet",
                                labels_)),
      longest_(metrics.Gauge("workqueue_longest_running_processor_seconds",
                             "How long in seconds the longest running processor has been running",
                             labels_)) {}

void QueueMetrics::Update(QueueCounts counts, const QueueGauges& gauges) {
  adds_.Increment(static_cast<double>(counts.adds));
  retries_.Increment(static_cast<double>(counts.retries));
  rejected_.Increment(static_cast<double>(counts.rejected));
  counts.queued.MoveTo(queued_);
  counts.worked.MoveTo(worked_);
  unfinished_.Set(absl::ToDoubleSeconds(gauges.unfinished));
  longest_.Set(absl::ToDoubleSeconds(gauges.longest));

  const auto depth_gauge = [this](const std::string& priority) {
    Labels labels = labels_;
    labels.emplace("priority", priority);
    return &metrics_.Gauge("workqueue_depth", "Current depth of workqueue by priority", labels);
  };
  double other = 0;
  for (auto& [priority, gauge] : depth_) {
    if (!gauges.depth.contains(priority)) gauge->Set(0);
  }
  for (const auto& [priority, depth] : gauges.depth) {
    auto it = depth_.find(priority);
    if (it == depth_.end() && depth_.size() < kMaxPriorities) {
      it = depth_.emplace(priority, depth_gauge(std::to_string(priority))).first;
    }
    if (it != depth_.end()) {
      it->second->Set(static_cast<double>(depth));
    } else {
      other += static_cast<double>(depth);
      if (other_depth_ == nullptr) other_depth_ = depth_gauge("exceeded_cardinality_limit");
    }
  }
  if (other_depth_ != nullptr) other_depth_->Set(other);
}

}  // namespace mandate
