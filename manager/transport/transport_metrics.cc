#include "manager/transport/transport_metrics.h"

#include <cstdint>
#include <utility>

namespace mandate {
namespace {

using Stats = TransportMetrics::Stats;

double Number(absl::Duration duration) { return absl::ToDoubleSeconds(duration); }
double Number(uint64_t count) { return static_cast<double>(count); }

template <class S, class T>
std::function<double(const Stats&)> Of(T S::*field) {
  return [field](const Stats& stats) { return Number(std::get<S>(stats).*field); };
}

struct Row {
  const char* name;
  const char* help;
  Labels labels;
  std::function<double(const Stats&)> read;
};

constexpr const char* kRequests = "mandate_transport_requests_total";
constexpr const char* kLimitReached = "mandate_transport_limit_reached_total";
constexpr const char* kLimitHelp = "Number of times that a limit of the transport was reached";
constexpr const char* kRuns = "mandate_event_loop_callbacks_total";
constexpr const char* kRunsHelp = "Tasks and callbacks that the event loop ran";

const Row kCounters[] = {
    {kRequests, "Requests", {{"class", "call"}}, Of(&HttpStats::calls)},
    {kRequests, "Requests", {{"class", "stream"}}, Of(&HttpStats::streams)},
    {"mandate_transport_sockets_opened_total",
     "Attempts to open a connection",
     {},
     Of(&HttpStats::sockets_opened)},
    {"mandate_transport_connections_drained_total",
     "Connections that the server ended: by GOAWAY, or by closing them while in use",
     {},
     Of(&HttpStats::connections_drained)},
    {"mandate_transport_connections_lost_total",
     "Connections that did not respond to a probe",
     {},
     Of(&HttpStats::connections_lost)},
    {"mandate_transport_connections_suspected_total",
     "Connections suspended after a request timed out without a response",
     {},
     Of(&HttpStats::connections_suspected)},
    {"mandate_transport_probes_total",
     "Probes of silent connections that have requests",
     {},
     Of(&HttpStats::probes)},
    {"mandate_transport_resends_total",
     "Requests sent again: rejected before the server processed them, or a GET whose connection "
     "was lost",
     {},
     Of(&HttpStats::resends)},
    {kLimitReached, kLimitHelp, {{"limit", "waiting"}}, Of(&HttpStats::limited_waiting)},
    {kLimitReached, kLimitHelp, {{"limit", "size"}}, Of(&HttpStats::limited_too_large)},
    {kLimitReached, kLimitHelp, {{"limit", "connections"}}, Of(&HttpStats::limited_connection)},
    {kLimitReached, kLimitHelp, {{"limit", "share"}}, Of(&HttpStats::limited_share)},
    {"mandate_transport_ca_rotations_total",
     "CA files that were reloaded after a change",
     {},
     Of(&HttpStats::ca_rotations)},
    {"mandate_transport_ca_errors_total",
     "CA files that could not be read or are not PEM",
     {},
     Of(&HttpStats::ca_errors)},
    {kRuns, kRunsHelp, {{"kind", "task"}}, Of(&EventLoop::Stats::tasks_run)},
    {kRuns, kRunsHelp, {{"kind", "timer"}}, Of(&EventLoop::Stats::timers_run)},
    {kRuns, kRunsHelp, {{"kind", "descriptor"}}, Of(&EventLoop::Stats::descriptor_events)},
};

constexpr const char* kConnections = "mandate_transport_connections";
constexpr const char* kConnectionsHelp = "Connections, including those being established";

const Row kGauges[] = {
    {kConnections, kConnectionsHelp, {{"class", "call"}}, Of(&HttpStats::call_connections)},
    {kConnections, kConnectionsHelp, {{"class", "stream"}}, Of(&HttpStats::stream_connections)},
    {"mandate_transport_active_requests", "Requests on a connection", {}, Of(&HttpStats::active)},
    {"mandate_transport_queued_requests",
     "Requests waiting for a connection",
     {},
     Of(&HttpStats::waiting)},
    {"mandate_event_loop_queue_depth",
     "Tasks waiting for the event loop",
     {},
     Of(&EventLoop::Stats::tasks_queued)},
    {"mandate_event_loop_queue_depth_max",
     "The largest number of tasks that waited at one time",
     {},
     Of(&EventLoop::Stats::most_tasks_queued)},
    {"mandate_event_loop_longest_callback_seconds",
     "The longest time that one callback blocked the loop",
     {},
     Of(&EventLoop::Stats::longest_run)},
};

}  // namespace

TransportMetrics::TransportMetrics(Options options) : options_(std::move(options)) {
  Metrics& metrics = *options_.metrics;
  for (const Row& row : kCounters) {
    counts_.push_back({&metrics.Counter(row.name, row.help, row.labels), row.read});
  }
  for (const Row& row : kGauges) {
    levels_.push_back({&metrics.Gauge(row.name, row.help, row.labels), row.read});
  }
}

void TransportMetrics::Start() {
  Copy();
  Loop& loop = *options_.loop;
  timer_ = loop.RunAt(loop.clock().TimeNow() + options_.interval, [this] { Start(); });
}

void TransportMetrics::Copy() {
  const Stats stats(options_.transport(), options_.loop_stats());
  for (Count& count : counts_) {
    const double now = count.read(stats);
    count.counter->Increment(now - count.counted);
    count.counted = now;
  }
  for (const Level& level : levels_) level.gauge->Set(level.read(stats));
}

}  // namespace mandate
