#include "manager/transport/transport_metrics.h"

#include <utility>

namespace mandate {
namespace {

struct HttpCount {
  const char* name;
  const char* help;
  Labels labels;
  uint64_t HttpStats::*field;
};

const HttpCount kHttpCounts[] = {
    {"mandate_transport_requests_total", "Requests", {{"class", "call"}}, &HttpStats::calls},
    {"mandate_transport_requests_total", "Requests", {{"class", "stream"}}, &HttpStats::streams},
    {"mandate_transport_sockets_opened_total", "Connections tried", {}, &HttpStats::sockets_opened},
    {"mandate_transport_connections_drained_total",
     "Connections that the server ended: by GOAWAY, or by closing them while in use",
     {},
     &HttpStats::connections_drained},
    {"mandate_transport_connections_lost_total",
     "Connections that did not answer a probe",
     {},
     &HttpStats::connections_lost},
    {"mandate_transport_connections_suspected_total",
     "Connections suspended after a request timed out without an answer",
     {},
     &HttpStats::connections_suspected},
    {"mandate_transport_probes_total", "Probes of idle connections", {}, &HttpStats::probes},
    {"mandate_transport_resends_total",
     "Requests sent again: rejected before the server processed them, or a GET whose connection "
     "was lost",
     {},
     &HttpStats::resends},
    {"mandate_transport_bounds_met_total",
     "Number of times that a limit of the transport was reached",
     {{"bound", "waiting"}},
     &HttpStats::refused_waiting},
    {"mandate_transport_bounds_met_total",
     "Number of times that a limit of the transport was reached",
     {{"bound", "size"}},
     &HttpStats::refused_too_large},
    {"mandate_transport_bounds_met_total",
     "Number of times that a limit of the transport was reached",
     {{"bound", "connections"}},
     &HttpStats::refused_connection},
    {"mandate_transport_bounds_met_total",
     "Number of times that a limit of the transport was reached",
     {{"bound", "share"}},
     &HttpStats::refused_share},
    {"mandate_transport_ca_rotations_total",
     "CA files that were reloaded after a change",
     {},
     &HttpStats::ca_rotations},
    {"mandate_transport_ca_errors_total",
     "CA files that could not be read or are not PEM",
     {},
     &HttpStats::ca_errors},
};

struct HttpLevel {
  const char* name;
  const char* help;
  Labels labels;
  size_t HttpStats::*field;
};

const HttpLevel kHttpLevels[] = {
    {"mandate_transport_connections",
     "Connections, including those being established",
     {{"class", "call"}},
     &HttpStats::call_connections},
    {"mandate_transport_connections",
     "Connections, including those being established",
     {{"class", "stream"}},
     &HttpStats::stream_connections},
    {"mandate_transport_streams", "Requests on a connection", {}, &HttpStats::active},
    {"mandate_transport_queue", "Requests waiting for a connection", {}, &HttpStats::waiting},
};

struct LoopCount {
  const char* kind;
  uint64_t EventLoop::Stats::*field;
};

const LoopCount kLoopCounts[] = {
    {"task", &EventLoop::Stats::tasks_run},
    {"timer", &EventLoop::Stats::timers_run},
    {"descriptor", &EventLoop::Stats::descriptor_events},
};

}  // namespace

TransportMetrics::TransportMetrics(Options options) : options_(std::move(options)) {
  Metrics& metrics = *options_.metrics;
  for (const HttpCount& row : kHttpCounts) {
    counts_.push_back({.counter = &metrics.Counter(row.name, row.help, row.labels),
                       .read = [this, field = row.field] { return http_.*field; }});
  }
  for (const HttpLevel& row : kHttpLevels) {
    levels_.push_back(
        {.gauge = &metrics.Gauge(row.name, row.help, row.labels),
         .read = [this, field = row.field] { return static_cast<double>(http_.*field); }});
  }
  for (const LoopCount& row : kLoopCounts) {
    counts_.push_back({.counter = &metrics.Counter("mandate_event_loop_runs_total",
                                                   "Tasks and callbacks that the event loop ran",
                                                   {{"kind", row.kind}}),
                       .read = [this, field = row.field] { return loop_.*field; }});
  }
  levels_.push_back({.gauge = &metrics.Gauge("mandate_event_loop_queue_depth",
                                             "Tasks waiting for the event loop", {}),
                     .read = [this] { return static_cast<double>(loop_.tasks_queued); }});
  levels_.push_back(
      {.gauge = &metrics.Gauge("mandate_event_loop_queue_depth_max",
                               "The largest number of tasks that waited at one time", {}),
       .read = [this] { return static_cast<double>(loop_.most_tasks_queued); }});
  levels_.push_back({.gauge = &metrics.Gauge("mandate_event_loop_longest_run_seconds",
                                             "The longest time that one task blocked the loop", {}),
                     .read = [this] { return absl::ToDoubleSeconds(loop_.longest_run); }});
}

void TransportMetrics::Start() {
  Copy();
  Loop& loop = *options_.loop;
  timer_ = loop.RunAt(loop.clock().TimeNow() + options_.interval, [this] { Start(); });
}

void TransportMetrics::Copy() {
  http_ = options_.transport();
  loop_ = options_.loop_stats();
  for (Count& count : counts_) {
    const uint64_t now = count.read();
    count.counter->Increment(static_cast<double>(now - count.counted));
    count.counted = now;
  }
  for (const Level& level : levels_) level.gauge->Set(level.read());
}

}  // namespace mandate
