#include "manager/telemetry/endpoints.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace mandate {
namespace {

using testing::HasSubstr;

absl::Status Ok() { return absl::OkStatus(); }
absl::Status Down() {
  return absl::UnavailableError("controller scope waits for roles\napply this:\nkind: Role");
}

using Query = std::map<std::string, std::string>;

class EndpointsTest : public testing::Test {
 protected:
  EndpointsTest() { AddHealthEndpoints(checks_, "/readyz", handlers_); }

  // Calls the handler that the server would choose.
  ServedResponse Get(const std::string& path, Query query = {}) {
    const std::string handler = path.starts_with("/readyz/") ? "/readyz/" : path;
    return handlers_.at(handler)({path, std::move(query)});
  }

  HealthChecks checks_;
  std::map<std::string, ServeHandler> handlers_;
};

TEST_F(EndpointsTest, AnswersHealthAsKubernetesDoes) {
  const Query verbose = {{"verbose", ""}};
  const struct {
    const char* what;
    HealthCheck scope;
    HealthCheck zeta;  // empty: there is no such check
    Query query;
    int code;
    const char* text;
  } rows[] = {
      {"healthy", Ok, {}, {}, 200, "ok"},
      {"healthy, verbose", Ok, {}, verbose, 200, "[+]ping ok\n[+]scope ok\nreadyz check passed\n"},
      {"sick",
       Down,
       Ok,
       {},
       500,
       "[+]ping ok\n[-]scope failed: reason withheld\n[+]zeta ok\nreadyz check failed\n"},
      {"sick, verbose", Down, Ok, verbose, 500,
       "[+]ping ok\n[-]scope failed: controller scope waits for roles\napply this:\nkind: "
       "Role\n[+]zeta ok\nreadyz check failed\n"},
      {"excluded", Down, Ok, {{"exclude", "scope"}}, 200, "ok"},
      {"excluded, verbose",
       Down,
       Ok,
       {{"exclude", "scope"}, {"verbose", "1"}},
       200,
       "[+]ping ok\n[+]scope excluded: ok\n[+]zeta ok\nreadyz check passed\n"},
      {"two excluded",
       Down,
       Down,
       {{"exclude", "zeta,scope"}, {"verbose", ""}},
       200,
       "[+]ping ok\n[+]scope excluded: ok\n[+]zeta excluded: ok\nreadyz check passed\n"},
      {"an unknown check excluded",
       Ok,
       {},
       {{"exclude", "nope"}, {"verbose", ""}},
       200,
       "[+]ping ok\n[+]scope ok\nwarn: some health checks cannot be excluded: no matches for "
       "\"nope\"\nreadyz check passed\n"},
  };
  for (const auto& row : rows) {
    HealthChecks checks;
    checks.Add("scope", row.scope);
    if (row.zeta) checks.Add("zeta", row.zeta);
    std::map<std::string, ServeHandler> handlers;
    AddHealthEndpoints(checks, "/readyz", handlers);
    const ServedResponse answer = handlers.at("/readyz")({"/readyz", row.query});
    EXPECT_EQ(answer.code, row.code) << row.what;
    EXPECT_EQ(answer.body, row.text) << row.what;
  }
}

TEST_F(EndpointsTest, AnswersForOneCheck) {
  checks_.Add("scope", [] { return absl::UnavailableError("waits"); });
  EXPECT_EQ(Get("/readyz/ping").code, 200);
  EXPECT_EQ(Get("/readyz/ping").body, "ok");
  EXPECT_EQ(Get("/readyz/scope").code, 500);
  EXPECT_EQ(Get("/readyz/scope").body, "internal server error: waits\n");
  EXPECT_EQ(Get("/readyz/nope").code, 404);
  EXPECT_EQ(Get("/readyz/").code, 404);
}

TEST_F(EndpointsTest, WarningsAreOnlyInVerboseAnswersAndFailNothing) {
  std::string text;
  checks_.AddWarning("a", [&] { return text; });
  checks_.AddWarning("b", [] { return std::string("broken"); });
  EXPECT_EQ(Get("/readyz", {{"verbose", ""}}).body,
            "[+]ping ok\nwarn: b: broken\nreadyz check passed\n");
  text = "cannot read x";
  const ServedResponse answer = Get("/readyz", {{"verbose", ""}});
  EXPECT_EQ(answer.code, 200);
  EXPECT_EQ(answer.body,
            "[+]ping ok\nwarn: a: cannot read x\nwarn: b: broken\nreadyz check passed\n");
  EXPECT_EQ(Get("/readyz").code, 200);
  EXPECT_EQ(Get("/readyz").body, "ok");
}

TEST_F(EndpointsTest, ServesMetrics) {
  Metrics metrics;
  ProcessMetrics process(metrics);
  AddMetricsEndpoint(metrics, process, handlers_);
  metrics.Counter("controller_runtime_reconcile_total", "Total", {{"controller", "scope"}})
      .Increment(3);
  const ServedResponse response = Get("/metrics");
  EXPECT_EQ(response.code, 200);
  EXPECT_EQ(response.content_type, "text/plain; version=0.0.4; charset=utf-8");
  EXPECT_THAT(response.body,
              HasSubstr("# TYPE controller_runtime_reconcile_total counter\n"
                        "controller_runtime_reconcile_total{controller=\"scope\"} 3"));
  EXPECT_THAT(response.body, HasSubstr("\nprocess_open_fds "));
}

}  // namespace
}  // namespace mandate
