// A controller's metrics: controller-runtime's names, with the component's identity.
#pragma once

#include <string>

#include "manager/core/metrics.h"

namespace mandate {

// Every series exists, with 0, before anything happens. Thread-safe.
struct ControllerMetrics {
  // The least bound of `seconds`, in seconds.
  static constexpr double kQuick = 0.005;

  ControllerMetrics(Metrics& metrics, const std::string& controller, const std::string& identity);

  // Adds `count` reconciliations to `seconds`, none longer than kQuick; they took `sum` in total.
  void ObserveQuick(int count, double sum);

  // By result: controller_runtime_reconcile_total.
  prometheus::Counter& success;
  prometheus::Counter& error;
  prometheus::Counter& requeue;  // kept for dashboards: nothing here requeues without a time
  prometheus::Counter& requeue_after;

  prometheus::Counter& errors;
  prometheus::Counter& terminal_errors;
  prometheus::Counter& panics;  // exceptions
  prometheus::Counter& timeouts;
  prometheus::Histogram& seconds;
  prometheus::Gauge& max_concurrent;
  prometheus::Gauge& active;

  // Events that could not be mapped: the object does not decode, or a map function failed.
  prometheus::Counter& event_errors;
  // The events that wait for the component's strand, at the last update; the pauses of sources
  // whose events came faster than they were mapped.
  prometheus::Gauge& waiting_events;
  prometheus::Counter& pauses;
};

}  // namespace mandate
