#include "manager/telemetry/endpoints.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace mandate {
namespace {

using testing::HasSubstr;

class EndpointsTest : public testing::Test {
 protected:
  EndpointsTest() {
    checks_.Add("scope-instance", [] { return absl::UnavailableError("waits for roles"); });
    checks_.Add("leader", [] { return absl::OkStatus(); });
    AddHealthEndpoints(checks_, "/readyz", handlers_);
    AddMetricsEndpoint(metrics_, process_, handlers_);
  }
  ServedResponse Get(const std::string& handler, const std::string& path,
                     std::map<std::string, std::string> query = {}) {
    return handlers_.at(handler)({path, std::move(query)});
  }

  HealthChecks checks_;
  Metrics metrics_;
  ProcessMetrics process_{metrics_};
  std::map<std::string, ServeHandler> handlers_;
};

TEST_F(EndpointsTest, Health) {
  EXPECT_EQ(Get("/readyz", "/readyz").code, 500);
  EXPECT_THAT(Get("/readyz", "/readyz").body, HasSubstr("[-]scope-instance failed"));
  EXPECT_THAT(Get("/readyz", "/readyz", {{"verbose", ""}}).body, HasSubstr("waits for roles"));
  EXPECT_EQ(Get("/readyz", "/readyz", {{"exclude", "scope-instance"}}).body, "ok");
  EXPECT_EQ(
      Get("/readyz", "/readyz", {{"exclude", "leader,scope-instance"}, {"verbose", "1"}}).body,
      "[+]ping ok\n[+]leader excluded: ok\n[+]scope-instance excluded: ok\n"
      "readyz check passed\n");
}

TEST_F(EndpointsTest, HealthOfOneCheck) {
  EXPECT_EQ(Get("/readyz/", "/readyz/leader").code, 200);
  EXPECT_EQ(Get("/readyz/", "/readyz/scope-instance").code, 500);
  EXPECT_EQ(Get("/readyz/", "/readyz/nobody").code, 404);
  EXPECT_EQ(Get("/readyz/", "/readyz/").code, 404);
}

TEST_F(EndpointsTest, Metrics) {
  metrics_.Counter("controller_runtime_reconcile_total", "Total", {{"controller", "scope"}})
      .Increment(3);
  const ServedResponse response = Get("/metrics", "/metrics");
  EXPECT_EQ(response.code, 200);
  EXPECT_EQ(response.content_type, "text/plain; version=0.0.4; charset=utf-8");
  EXPECT_THAT(response.body,
              HasSubstr("# TYPE controller_runtime_reconcile_total counter\n"
                        "controller_runtime_reconcile_total{controller=\"scope\"} 3"));
  EXPECT_THAT(response.body, HasSubstr("\nprocess_open_fds "));
}

}  // namespace
}  // namespace mandate
