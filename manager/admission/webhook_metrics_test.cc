#include "manager/admission/webhook_metrics.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace mandate {
namespace {

// The names and labels of controller-runtime.
TEST(WebhookMetrics, HaveTheirNamesAndLabels) {
  Metrics metrics;
  const WebhookMetrics webhook(metrics, "/validate");
  webhook.Requests(200).Increment();
  webhook.Requests(504).Increment();
  webhook.seconds.Observe(0.002);
  std::set<std::string> series;
  for (const auto& family : metrics.registry().Collect()) {
    for (const auto& metric : family.metric) {
      std::string text = family.name;
      for (const auto& label : metric.label) text += " " + label.name + "=" + label.value;
      series.insert(text);
    }
  }
  EXPECT_EQ(series, (std::set<std::string>{
                        "controller_runtime_webhook_latency_seconds webhook=/validate",
                        "controller_runtime_webhook_panics_total webhook=/validate",
                        "controller_runtime_webhook_requests_in_flight webhook=/validate",
                        "controller_runtime_webhook_requests_total code=200 webhook=/validate",
                        "controller_runtime_webhook_requests_total code=504 webhook=/validate"}));
}

}  // namespace
}  // namespace mandate
