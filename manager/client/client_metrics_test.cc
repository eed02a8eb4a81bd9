#include "manager/client/client_metrics.h"

#include <string>

#include "manager/client/testing/client_fixture.h"

namespace mandate {
namespace {

struct ClientMetricsTest : ClientFixture {
  double RetriesAfter(const std::string& code) {
    return metrics
        .Counter("rest_client_request_retries_total", "",
                 Of({{"code", code}, {"verb", "GET"}, {"host", "https://local:6443"}}))
        .Value();
  }
};

TEST_F(ClientMetricsTest, RetriesAreCountedAndSoIsTheLastThatWasNot) {
  options.max_attempts = 3;
  server = [](const HttpRequest&) { return FakeReply::Json(429, ""); };
  EXPECT_FALSE(Send(Get()).ok());
  EXPECT_EQ(RetriesAfter("429"), 2);
  EXPECT_EQ(Met("attempts"), 1);
  server = [](const HttpRequest&) { return FakeReply::Error(absl::UnavailableError("reset")); };
  EXPECT_FALSE(Send(Get()).ok());
  EXPECT_EQ(RetriesAfter("<error>"), 2);
  EXPECT_EQ(Met("attempts"), 2);
  EXPECT_FALSE(Send(Post()).ok());
  EXPECT_EQ(Met("attempts"), 2) << "what is never sent again meets no bound";
}

TEST_F(ClientMetricsTest, TheTimeOfEachAttemptIsAHistogram) {
  options.max_attempts = 2;
  server = [](const HttpRequest&) {
    return FakeReply::Json(429, "").After(absl::Milliseconds(300));
  };
  EXPECT_FALSE(Send(Get()).ok());
  const auto histogram =
      metrics
          .Histogram("rest_client_request_duration_seconds", "",
                     Of({{"verb", "GET"}, {"host", "https://local:6443"}}), {0.25, 0.5})
          .Collect()
          .histogram;
  EXPECT_EQ(histogram.sample_count, 2u);
  EXPECT_NEAR(histogram.sample_sum, 0.6, 0.001);
}

TEST_F(ClientMetricsTest, ClientsOfOneIdentityAddUpAndLeaveNothing) {
  server = [](const HttpRequest&) { return FakeReply::Never(); };
  client().Send(In(absl::Hours(1)), Get(), [](Result) {});
  client().Send(In(absl::Hours(1)), Get(), [](Result) {});
  auto other = *ComponentClient::Create(options);
  other->Send(In(absl::Hours(1)), Get(), [](Result) {});
  loop.RunReady();
  EXPECT_EQ(Level("in_flight"), 3);
  owned.reset();
  EXPECT_EQ(Level("in_flight"), 1);
  other.reset();
  EXPECT_EQ(Level("in_flight"), 0);
}

TEST_F(ClientMetricsTest, WithoutMetricsNothingIsCounted) {
  options.metrics = nullptr;
  EXPECT_TRUE(Send(Get()).ok());
  EXPECT_EQ(Counted("200", "GET"), 0);
}

}  // namespace
}  // namespace mandate
