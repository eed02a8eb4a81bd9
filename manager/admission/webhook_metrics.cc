#include "manager/admission/webhook_metrics.h"

namespace mandate {
namespace {

// Of one Prometheus histogram with default buckets, and finer ones for quick handlers.
prometheus::Histogram::BucketBoundaries Buckets() {
  return {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30};
}

}  // namespace

WebhookMetrics::WebhookMetrics(Metrics& metrics, const std::string& path)
    : seconds(metrics.Histogram("controller_runtime_webhook_latency_seconds",
                                "Histogram of the latency of processing admission requests",
                                {{"webhook", path}}, Buckets())),
      in_flight(metrics.Gauge("controller_runtime_webhook_requests_in_flight",
                              "Current number of admission requests being served",
                              {{"webhook", path}})),
      panics(metrics.Counter("controller_runtime_webhook_panics_total",
                             "Total number of exceptions of admission handlers",
                             {{"webhook", path}})),
      metrics_(metrics),
      path_(path),
      answered_(Find(200)) {}

prometheus::Counter& WebhookMetrics::Find(int code) const {
  return metrics_.Counter("controller_runtime_webhook_requests_total",
                          "Total number of admission requests by HTTP status code",
                          {{"code", std::to_string(code)}, {"webhook", path_}});
}

}  // namespace mandate
