#include "manager/controller/controller_metrics.h"

#include <vector>

namespace mandate {
namespace {

Labels Of(const std::string& controller, const std::string& identity) {
  return {{"controller", controller}, {"identity", identity}};
}

prometheus::Counter& Total(Metrics& metrics, Labels labels, const std::string& result) {
  labels.emplace("result", result);
  return metrics.Counter("controller_runtime_reconcile_total",
                         "Total number of reconciliations per controller", labels);
}

prometheus::Histogram::BucketBoundaries Buckets() {
  return {0.005, 0.01, 0.025, 0.05, 0.1,  0.15, 0.2,  0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6,
          0.7,   0.8,  0.9,   1.0,  1.25, 1.5,  1.75, 2.0,  2.5, 3.0,  3.5, 4.0,  4.5, 5,
          6,     7,    8,     9,    10,   15,   20,   25,   30,  40,   50,  60};
}

}  // namespace

ControllerMetrics::ControllerMetrics(Metrics& metrics, const std::string& controller,
                                     const std::string& identity)
    : success(Total(metrics, Of(controller, identity), "success")),
      error(Total(metrics, Of(controller, identity), "error")),
      requeue(Total(metrics, Of(controller, identity), "requeue")),
      requeue_after(Total(metrics, Of(controller, identity), "requeue_after")),
      errors(metrics.Counter("controller_runtime_reconcile_errors_total",
                             "Total number of reconciliation errors per controller",
                             Of(controller, identity))),
      terminal_errors(
          metrics.Counter("controller_runtime_terminal_reconcile_errors_total",
                          "Total number of terminal reconciliation errors per controller",
                          Of(controller, identity))),
      panics(metrics.Counter("controller_runtime_reconcile_panics_total",
                             "Total number of reconciliation exceptions per controller",
                             Of(controller, identity))),
      timeouts(metrics.Counter("controller_runtime_reconcile_timeouts_total",
                               "Total number of reconciliations ended by the controller's own "
                               "deadline",
                               Of(controller, identity))),
      seconds(metrics.Histogram("controller_runtime_reconcile_time_seconds",
                                "Length of time per reconciliation per controller",
                                Of(controller, identity), Buckets())),
      max_concurrent(metrics.Gauge("controller_runtime_max_concurrent_reconciles",
                                   "Maximum number of concurrent reconciles per controller",
                                   Of(controller, identity))),
      active(metrics.Gauge("controller_runtime_active_workers",
                           "Number of currently used workers per controller",
                           Of(controller, identity))),
      event_errors(metrics.Counter("mandate_controller_event_errors_total",
                                   "Total number of events that could not be mapped to a request",
                                   Of(controller, identity))),
      waiting_events(metrics.Gauge("mandate_controller_waiting_events",
                                   "Number of events waiting for predicates and map functions",
                                   Of(controller, identity))),
      pauses(metrics.Counter("mandate_controller_source_pauses_total",
                             "Total number of pauses of sources whose events arrived faster than "
                             "the map functions ran",
                             Of(controller, identity))) {}

void ControllerMetrics::ObserveQuick(int count, double sum) {
  static const size_t buckets = Buckets().size() + 1;  // one for what is beyond them
  std::vector<double> increments(buckets);
  increments[0] = count;
  seconds.ObserveMultiple(increments, sum);
}

}  // namespace mandate
