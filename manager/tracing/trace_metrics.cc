#include "manager/tracing/trace_metrics.h"

namespace mandate {
namespace {

const char* ReasonOf(SpanDrop reason) {
  switch (reason) {
    case SpanDrop::kQueueFull:
      return "queue_full";
    case SpanDrop::kRejected:
      return "rejected";
    case SpanDrop::kTimeout:
      return "timeout";
    case SpanDrop::kShutdown:
      return "shutdown";
  }
  return "?";
}

prometheus::Histogram& Seconds(Metrics& metrics, const char* outcome) {
  return metrics.Histogram(
      "mandate_trace_export_seconds", "Duration of the requests that send spans, by outcome",
      {{"outcome", outcome}}, {0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30});
}

}  // namespace

TraceMetrics::TraceMetrics(Metrics& metrics)
    : metrics_(metrics),
      rejected_in_part_(metrics.Counter("mandate_trace_spans_rejected_in_part_total",
                                        "Spans that the collector rejected from batches that it "
                                        "accepted",
                                        {})),
      ok_seconds_(Seconds(metrics, "ok")),
      error_seconds_(Seconds(metrics, "error")) {}

TraceMetrics::OfComponent& TraceMetrics::Of(const std::string& component) {
  const auto known = components_.find(component);
  if (known != components_.end()) return known->second;
  const Labels labels = {{"identity", component}};
  OfComponent made{
      .exported = metrics_.Counter("mandate_trace_spans_exported_total",
                                   "Spans in batches that the collector accepted", labels),
      .queued = metrics_.Gauge("mandate_trace_queued_spans", "Spans that wait for the next batch",
                               labels)};
  return components_.emplace(component, std::move(made)).first->second;
}

void TraceMetrics::CountExported(const std::string& component) {
  MutexLock lock(mutex_);
  Of(component).exported.Increment();
}

void TraceMetrics::CountDropped(const std::string& component, SpanDrop reason) {
  MutexLock lock(mutex_);
  prometheus::Counter*& counter = Of(component).dropped[reason];
  if (counter == nullptr) {
    counter = &metrics_.Counter("mandate_trace_spans_dropped_total",
                                "Spans that did not reach the collector, by reason",
                                {{"identity", component}, {"reason", ReasonOf(reason)}});
  }
  counter->Increment();
}

void TraceMetrics::SetQueued(const std::string& component, size_t spans) {
  MutexLock lock(mutex_);
  Of(component).queued.Set(static_cast<double>(spans));
}

void TraceMetrics::NoteRequest(absl::Duration took, bool ok) {
  (ok ? ok_seconds_ : error_seconds_).Observe(absl::ToDoubleSeconds(took));
}

void TraceMetrics::CountRejectedInPart(double spans) { rejected_in_part_.Increment(spans); }

}  // namespace mandate
