#include "manager/controller/queue_metrics.h"

#include <gtest/gtest.h>

#include <map>

namespace mandate {
namespace {

using Family = prometheus::MetricFamily;

const Family* Find(const std::vector<Family>& families, const std::string& name) {
  for (const Family& family : families) {
    if (family.name == name) return &family;
  }
  return nullptr;
}

// Maps the value of `label` to the gauge's value, for each series of a family.
std::map<std::string, double> GaugesBy(const Family& family, const std::string& label) {
  std::map<std::string, double> result;
  for (const auto& metric : family.metric) {
    for (const auto& pair : metric.label) {
      if (pair.name == label) result[pair.value] = metric.gauge.value;
    }
  }
  return result;
}

TEST(QueueMetricsTest, NamesAndLabels) {
  Metrics metrics;
  QueueMetrics queue(metrics, "scope", "scope-instance");
  QueueGauges gauges;
  gauges.depth[0] = 3;
  queue.Update({}, gauges);
  const auto families = metrics.registry().Collect();
  for (const char* name :
       {"workqueue_depth", "workqueue_adds_total", "workqueue_queue_duration_seconds",
        "workqueue_work_duration_seconds", "workqueue_unfinished_work_seconds",
        "workqueue_longest_running_processor_seconds", "workqueue_retries_total"}) {
    const Family* family = Find(families, name);
    ASSERT_NE(family, nullptr) << name;
    ASSERT_EQ(family->metric.size(), 1u) << name;
    std::map<std::string, std::string> labels;
    for (const auto& label : family->metric[0].label) labels[label.name] = label.value;
    EXPECT_EQ(labels["name"], "scope") << name;
    EXPECT_EQ(labels["controller"], "scope") << name;
    EXPECT_EQ(labels["identity"], "scope-instance") << name;
  }
}

TEST(QueueMetricsTest, BucketsAreUpperBounds) {
  Metrics metrics;
  QueueMetrics queue(metrics, "q", "c");
  QueueCounts counts;
  counts.queued.Observe(10);                // le 10 ns
  counts.queued.Observe(11);                // le 100 ns
  counts.queued.Observe(1'000'000);         // le 1 ms
  counts.queued.Observe(1000'000'000'000);  // le 1000 s
  counts.queued.Observe(1001'000'000'000);  // beyond
  queue.Update(counts, {});
  const auto families = metrics.registry().Collect();
  const Family* family = Find(families, "workqueue_queue_duration_seconds");
  ASSERT_NE(family, nullptr);
  const auto& histogram = family->metric[0].histogram;
  ASSERT_EQ(histogram.bucket.size(), 13u);
  EXPECT_DOUBLE_EQ(histogram.bucket[0].upper_bound, 1e-8);
  EXPECT_DOUBLE_EQ(histogram.bucket[11].upper_bound, 1e3);
  EXPECT_EQ(histogram.bucket[0].cumulative_count, 1u);
  EXPECT_EQ(histogram.bucket[1].cumulative_count, 2u);
  EXPECT_EQ(histogram.bucket[4].cumulative_count, 2u);
  EXPECT_EQ(histogram.bucket[5].cumulative_count, 3u);
  EXPECT_EQ(histogram.bucket[11].cumulative_count, 4u);
  EXPECT_EQ(histogram.sample_count, 5u);
  EXPECT_NEAR(histogram.sample_sum, 2001.001, 1e-6);
}

TEST(QueueMetricsTest, DepthHasABoundedNumberOfPriorities) {
  Metrics metrics;
  QueueMetrics queue(metrics, "q", "c");
  QueueGauges gauges;
  for (int priority = 0; priority < 30; ++priority) gauges.depth[priority] = 1;
  queue.Update({}, gauges);
  auto families = metrics.registry().Collect();
  auto depth = GaugesBy(*Find(families, "workqueue_depth"), "priority");
  EXPECT_EQ(depth.size(), QueueMetrics::kMaxPriorities + 1);
  EXPECT_EQ(depth["exceeded_cardinality_limit"], 5);

  gauges.depth.clear();
  queue.Update({}, gauges);
  families = metrics.registry().Collect();
  for (const auto& [priority, value] : GaugesBy(*Find(families, "workqueue_depth"), "priority")) {
    EXPECT_EQ(value, 0) << priority;
  }
}

}  // namespace
}  // namespace mandate
