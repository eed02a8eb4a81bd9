// Metrics of one webhook, under controller-runtime's names.
#pragma once

#include <string>

#include "manager/core/metrics.h"

namespace mandate {

// References to series of a registry, which outlives this.
struct WebhookMetrics {
  WebhookMetrics(Metrics& metrics, const std::string& path);

  // The answer's HTTP code; a denied review is a 200.
  prometheus::Counter& Requests(int code) const { return code == 200 ? answered_ : Find(code); }

  prometheus::Histogram& seconds;
  prometheus::Gauge& in_flight;
  prometheus::Counter& panics;  // exceptions of the handler

 private:
  prometheus::Counter& Find(int code) const;

  Metrics& metrics_;
  const std::string path_;
  prometheus::Counter& answered_;  // Requests(200)
};

}  // namespace mandate
