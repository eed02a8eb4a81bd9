#include "manager/tracing/trace_metrics.h"

#include <gtest/gtest.h>

#include <string>

namespace mandate {
namespace {

TEST(TraceMetricsTest, CountsByComponentAndReason) {
  Metrics metrics;
  TraceMetrics trace(metrics);
  for (int i = 0; i < 3; ++i) trace.CountExported("a");
  trace.CountExported("b");
  trace.CountDropped("a", SpanDrop::kQueueFull);
  trace.CountDropped("a", SpanDrop::kQueueFull);
  trace.CountDropped("a", SpanDrop::kRejected);
  trace.CountDropped("b", SpanDrop::kTimeout);
  trace.CountDropped("b", SpanDrop::kShutdown);
  trace.SetQueued("a", 7);
  trace.SetQueued("a", 5);
  trace.CountRejectedInPart(4);
  const auto counter = [&metrics](const std::string& name, const Labels& labels) {
    return metrics.Counter(name, "", labels).Value();
  };
  EXPECT_EQ(counter("mandate_trace_spans_exported_total", {{"identity", "a"}}), 3);
  EXPECT_EQ(counter("mandate_trace_spans_exported_total", {{"identity", "b"}}), 1);
  const struct {
    const char* component;
    const char* reason;
    double count;
  } rows[] = {{"a", "queue_full", 2},
              {"a", "rejected", 1},
              {"b", "timeout", 1},
              {"b", "shutdown", 1},
              {"b", "rejected", 0}};
  for (const auto& row : rows) {
    EXPECT_EQ(counter("mandate_trace_spans_dropped_total",
                      {{"identity", row.component}, {"reason", row.reason}}),
              row.count)
        << row.component << " " << row.reason;
  }
  EXPECT_EQ(metrics.Gauge("mandate_trace_queued_spans", "", {{"identity", "a"}}).Value(), 5);
  EXPECT_EQ(counter("mandate_trace_spans_rejected_in_part_total", {}), 4);
}

TEST(TraceMetricsTest, MeasuresRequestsByOutcome) {
  Metrics metrics;
  TraceMetrics trace(metrics);
  trace.NoteRequest(absl::Milliseconds(20), true);
  trace.NoteRequest(absl::Seconds(3), false);
  trace.NoteRequest(absl::Seconds(4), false);
  for (const auto& family : metrics.registry().Collect()) {
    if (family.name != "mandate_trace_export_seconds") continue;
    ASSERT_EQ(family.metric.size(), 2u);
    for (const auto& metric : family.metric) {
      const bool ok = metric.label[0].value == "ok";
      EXPECT_EQ(metric.histogram.sample_count, ok ? 1u : 2u);
      EXPECT_DOUBLE_EQ(metric.histogram.sample_sum, ok ? 0.02 : 7);
    }
    return;
  }
  FAIL() << "no such metric";
}

}  // namespace
}  // namespace mandate
