// The metrics of a component's client: its requests, and the use of its bounds.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <tuple>

#include "absl/time/time.h"
#include "manager/client/retry_policy.h"
#include "manager/core/metrics.h"
#include "manager/identity/identity.h"

namespace mandate {

// docs/transport.md lists the names. Single-threaded.
class ClientMetrics {
 public:
  enum class Limit {
    kInFlight,       // a call has to wait for its turn
    kQueue,          // a call is rejected, as too many wait
    kWatches,        // a watch is rejected
    kAttempts,       // a call is not sent again, as it was often enough
    kRetryAfter,     // a call is not sent again, as the server asks for too long a wait
    kResponseBytes,  // a call has to wait, as too many bytes of responses are under way
    kResponse,       // a call fails, as its response is too large
  };
  static constexpr size_t kLimitCount = 7;

  enum class Gauge { kInFlight, kQueued, kWatches };
  static constexpr size_t kGaugeCount = 3;

  // Without `metrics` nothing is counted. Both outlive this; clients of one identity add up.
  ClientMetrics(Metrics* metrics, const Identity& identity);
  // Its levels are zero from then on.
  ~ClientMetrics();
  ClientMetrics(const ClientMetrics&) = delete;
  ClientMetrics& operator=(const ClientMetrics&) = delete;

  // `code`: the response's HTTP status, or "<error>" without a response.
  void CountResponse(const std::string& code, const std::string& method);
  // From sending to the complete response, or to the end without one.
  void ObserveDuration(const std::string& method, absl::Duration duration);
  void Retried(const std::string& code, const std::string& method, RetryReason reason);
  void CountLimitReached(Limit limit);
  void Set(Gauge gauge, size_t now);
  // Bytes of responses that are being received; null without metrics.
  prometheus::Gauge* response_bytes() { return response_bytes_; }

 private:
  Labels With(Labels labels) const;
  prometheus::Counter& Requests(const char* name, const char* help, const char* method_label,
                                const std::string& code, const std::string& method);

  Metrics* const metrics_;
  const Identity& identity_;
  std::map<std::tuple<const char*, std::string, std::string>, prometheus::Counter*> requests_;
  std::map<std::string, prometheus::Histogram*> durations_;  // by method
  std::array<prometheus::Counter*, kLimitCount> limits_ = {};
  std::array<prometheus::Counter*, kRetryReasons> retries_ = {};  // none of kNone
  std::array<prometheus::Gauge*, kGaugeCount> gauges_ = {};
  std::array<size_t, kGaugeCount> levels_ = {};
  prometheus::Gauge* response_bytes_ = nullptr;
};

}  // namespace mandate
