// The endpoints of the HTTP servers: probes and scrapes.
//
//   std::map<std::string, ServeHandler> handlers;
//   AddHealthEndpoints(live, "/healthz", handlers);
//   AddHealthEndpoints(ready, "/readyz", handlers);
//   AddMetricsEndpoint(metrics, process, handlers);
#pragma once

#include <map>
#include <string>

#include "manager/core/metrics.h"
#include "manager/serving/http_server.h"
#include "manager/telemetry/health.h"
#include "manager/telemetry/process_metrics.h"

namespace mandate {

// Adds the handlers of `path`, which takes ?verbose and ?exclude=NAME, and of `path`/NAME. `checks`
// outlives the server.
void AddHealthEndpoints(const HealthChecks& checks, const std::string& path,
                        std::map<std::string, ServeHandler>& handlers);

// "/metrics" in Prometheus' text format 0.0.4; `process` is brought up to date for each scrape.
// Both outlive the server.
void AddMetricsEndpoint(const Metrics& metrics, ProcessMetrics& process,
                        std::map<std::string, ServeHandler>& handlers);

}  // namespace mandate
