#include "manager/client/client_metrics.h"

#include <utility>

namespace mandate {
namespace {

// In the order of ClientMetrics::Gauge.
constexpr struct {
  const char* name;
  const char* help;
} kGauges[] = {
    {"mandate_client_in_flight", "Calls in flight, including their token requests and retries"},
    {"mandate_client_queue", "Calls waiting in the queue"},
    {"mandate_client_watches", "Watches that are open"},
};
static_assert(std::size(kGauges) == ClientMetrics::kGaugeCount);

// In the order of ClientMetrics::Limit.
constexpr const char* kLimitNames[] = {"in_flight",   "queue",          "watches", "attempts",
                                       "retry_after", "response_bytes", "response"};
static_assert(std::size(kLimitNames) == ClientMetrics::kLimitCount);

}  // namespace

ClientMetrics::ClientMetrics(Metrics* metrics, const Identity& identity)
    : metrics_(metrics), identity_(identity) {
  if (metrics_ == nullptr) return;
  for (size_t i = 0; i < gauges_.size(); ++i) {
    gauges_[i] = &metrics_->Gauge(kGauges[i].name, kGauges[i].help, With({}));
  }
  for (size_t i = 0; i < limits_.size(); ++i) {
    limits_[i] =
        &metrics_->Counter("mandate_client_limit_reached_total",
                           "Number of times that a limit of a component's client was reached",
                           With({{"limit", kLimitNames[i]}}));
  }
  response_bytes_ = &metrics_->Gauge("mandate_client_response_bytes",
                                     "Bytes of responses that are being received", With({}));
  for (int i = 1; i < kRetryReasons; ++i) {
    retries_[i] = &metrics_->Counter("mandate_client_retries_total",
                                     "Requests that were sent again, by reason",
                                     With({{"reason", ToString(static_cast<RetryReason>(i))}}));
  }
}

ClientMetrics::~ClientMetrics() {
  for (size_t i = 0; i < kGaugeCount; ++i) Set(static_cast<Gauge>(i), 0);
}

Labels ClientMetrics::With(Labels labels) const {
  labels.emplace("cluster", identity_.cluster());
  labels.emplace("identity", identity_.name());
  return labels;
}

prometheus::Counter& ClientMetrics::Requests(const char* name, const char* help,
                                             const char* method_label, const std::string& code,
                                             const std::string& method) {
  prometheus::Counter*& counter = requests_[{name, code, method}];
  if (counter == nullptr) {
    counter = &metrics_->Counter(
        name, help,
        With({{"code", code}, {method_label, method}, {"host", identity_.endpoint()->server}}));
  }
  return *counter;
}

void ClientMetrics::CountResponse(const std::string& code, const std::string& method) {
  if (metrics_ == nullptr) return;
  Requests("rest_client_requests_total", "Number of HTTP requests, by code, method and host.",
           "method", code, method)
      .Increment();
}

void ClientMetrics::ObserveDuration(const std::string& method, absl::Duration duration) {
  if (metrics_ == nullptr) return;
  prometheus::Histogram*& histogram = durations_[method];
  if (histogram == nullptr) {
    // client-go's name, labels and buckets (k8s.io/component-base/metrics/prometheus/restclient).
    histogram = &metrics_->Histogram(
        "rest_client_request_duration_seconds", "Request latency in seconds, by verb and host.",
        With({{"verb", method}, {"host", identity_.endpoint()->server}}),
        {0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 60.0});
  }
  histogram->Observe(absl::ToDoubleSeconds(duration));
}

void ClientMetrics::Retried(const std::string& code, const std::string& method,
                            RetryReason reason) {
  if (metrics_ == nullptr) return;
  retries_[static_cast<size_t>(reason)]->Increment();
  Requests("rest_client_request_retries_total",
           "Number of requests sent again, by code, verb and host.", "verb", code, method)
      .Increment();
}

void ClientMetrics::CountLimitReached(Limit limit) {
  if (metrics_ != nullptr) limits_[static_cast<size_t>(limit)]->Increment();
}

void ClientMetrics::Set(Gauge gauge, size_t now) {
  if (metrics_ == nullptr) return;
  const auto i = static_cast<size_t>(gauge);
  gauges_[i]->Increment(static_cast<double>(now) - static_cast<double>(levels_[i]));
  levels_[i] = now;
}

}  // namespace mandate
