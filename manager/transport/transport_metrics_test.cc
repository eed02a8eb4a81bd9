#include "manager/transport/transport_metrics.h"

#include <string>

#include "gtest/gtest.h"
#include "manager/core/testing/simulated_loop.h"

namespace mandate {
namespace {

class TransportMetricsTest : public ::testing::Test {
 protected:
  double Count(const std::string& name, const Labels& labels = {}) {
    return metrics_.Counter(name, "", labels).Value();
  }
  double Level(const std::string& name, const Labels& labels = {}) {
    return metrics_.Gauge(name, "", labels).Value();
  }

  SimulatedLoop loop_;
  Metrics metrics_;
  HttpStats http_;
  EventLoop::Stats stats_;
  TransportMetrics transport_metrics_{{.loop = &loop_,
                                       .metrics = &metrics_,
                                       .transport = [this] { return http_; },
                                       .loop_stats = [this] { return stats_; },
                                       .interval = absl::Seconds(5)}};
};

TEST_F(TransportMetricsTest, CountsGrowAndLevelsFollow) {
  http_.calls = 3;
  http_.call_connections = 2;
  transport_metrics_.Start();
  EXPECT_EQ(Count("mandate_transport_requests_total", {{"class", "call"}}), 3);
  EXPECT_EQ(Level("mandate_transport_connections", {{"class", "call"}}), 2);
  http_.calls = 10;
  http_.call_connections = 1;
  stats_.tasks_run = 7;
  loop_.RunFor(absl::Seconds(4));
  EXPECT_EQ(Count("mandate_transport_requests_total", {{"class", "call"}}), 3);
  loop_.RunFor(absl::Seconds(1));
  EXPECT_EQ(Count("mandate_transport_requests_total", {{"class", "call"}}), 10);
  EXPECT_EQ(Level("mandate_transport_connections", {{"class", "call"}}), 1);
  EXPECT_EQ(Count("mandate_event_loop_callbacks_total", {{"kind", "task"}}), 7);
}

TEST_F(TransportMetricsTest, EachCounterHasItsOwnMetric) {
  http_ = {.calls = 1,
           .streams = 2,
           .sockets_opened = 3,
           .connections_drained = 4,
           .connections_lost = 5,
           .connections_suspected = 24,
           .probes = 6,
           .resends = 7,
           .limited_waiting = 8,
           .limited_too_large = 9,
           .limited_connection = 10,
           .limited_share = 22,
           .ca_rotations = 11,
           .ca_errors = 12,
           .call_connections = 13,
           .stream_connections = 23,
           .active = 14,
           .waiting = 15};
  stats_ = {.tasks_run = 16,
            .timers_run = 17,
            .descriptor_events = 18,
            .tasks_queued = 19,
            .most_tasks_queued = 20,
            .longest_run = absl::Milliseconds(21)};
  transport_metrics_.Start();
  const std::string transport = "mandate_transport_";
  EXPECT_EQ(Count(transport + "requests_total", {{"class", "call"}}), 1);
  EXPECT_EQ(Count(transport + "requests_total", {{"class", "stream"}}), 2);
  EXPECT_EQ(Count(transport + "sockets_opened_total"), 3);
  EXPECT_EQ(Count(transport + "connections_drained_total"), 4);
  EXPECT_EQ(Count(transport + "connections_lost_total"), 5);
  EXPECT_EQ(Count(transport + "connections_suspected_total"), 24);
  EXPECT_EQ(Count(transport + "probes_total"), 6);
  EXPECT_EQ(Count(transport + "resends_total"), 7);
  EXPECT_EQ(Count(transport + "limit_reached_total", {{"limit", "waiting"}}), 8);
  EXPECT_EQ(Count(transport + "limit_reached_total", {{"limit", "size"}}), 9);
  EXPECT_EQ(Count(transport + "limit_reached_total", {{"limit", "connections"}}), 10);
  EXPECT_EQ(Count(transport + "ca_rotations_total"), 11);
  EXPECT_EQ(Count(transport + "ca_errors_total"), 12);
  EXPECT_EQ(Count(transport + "limit_reached_total", {{"limit", "share"}}), 22);
  EXPECT_EQ(Level(transport + "connections", {{"class", "call"}}), 13);
  EXPECT_EQ(Level(transport + "connections", {{"class", "stream"}}), 23);
  EXPECT_EQ(Level(transport + "active_requests"), 14);
  EXPECT_EQ(Level(transport + "queued_requests"), 15);
  EXPECT_EQ(Count("mandate_event_loop_callbacks_total", {{"kind", "task"}}), 16);
  EXPECT_EQ(Count("mandate_event_loop_callbacks_total", {{"kind", "timer"}}), 17);
  EXPECT_EQ(Count("mandate_event_loop_callbacks_total", {{"kind", "descriptor"}}), 18);
  EXPECT_EQ(Level("mandate_event_loop_queue_depth"), 19);
  EXPECT_EQ(Level("mandate_event_loop_queue_depth_max"), 20);
  EXPECT_EQ(Level("mandate_event_loop_longest_callback_seconds"), 0.021);
}

}  // namespace
}  // namespace mandate
