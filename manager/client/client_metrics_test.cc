#include "manager/client/client_metrics.h"

#include <memory>
#include <utility>
#include <vector>

#include "manager/client/testing/client_fixture.h"

namespace mandate {
namespace {

struct ClientMetricsTest : ClientFixture {
  static Labels Of(Labels more = {}) {
    more.emplace("cluster", "local");
    more.emplace("identity", "scope");
    return more;
  }
  double Level(const std::string& name) {
    return metrics.Gauge("mandate_client_" + name, "", Of()).Value();
  }
  double Met(const std::string& bound) {
    return metrics.Counter("mandate_client_bounds_met_total", "", Of({{"bound", bound}})).Value();
  }
  double Retries(const std::string& code) {
    return metrics
        .Counter("rest_client_request_retries_total", "",
                 Of({{"code", code}, {"verb", "GET"}, {"host", "https://local:6443"}}))
        .Value();
  }
  void Start(int calls) {
    for (int i = 0; i < calls; ++i) client().Send(In(absl::Hours(1)), Get(), [](Result) {});
    loop.RunReady();
  }
};

TEST_F(ClientMetricsTest, CallsUnderWayAndWaitingAreLevelsAndTheirBoundsAreCounted) {
  options.max_in_flight = 2;
  options.max_queued = 3;
  server = [](const HttpRequest&) { return FakeReply::Json(200, "").After(absl::Seconds(1)); };
  Start(2);
  EXPECT_EQ(Level("in_flight"), 2);
  EXPECT_EQ(Met("in_flight"), 0);
  Start(5);
  EXPECT_EQ(Level("in_flight"), 2);
  EXPECT_EQ(Level("queue"), 3);
  EXPECT_EQ(Met("in_flight"), 3);
  EXPECT_EQ(Met("queue"), 2);
  loop.RunFor(absl::Seconds(20));
  EXPECT_EQ(Level("in_flight"), 0);
  EXPECT_EQ(Level("queue"), 0);
}

TEST_F(ClientMetricsTest, WatchesAreALevelAndOneTooManyIsCounted) {
  struct Sink : StreamSink {
    Flow OnOpen(const HttpResponse&) override { return Flow::kContinue; }
    Flow OnData(std::string_view) override { return Flow::kContinue; }
    void OnClosed(absl::Status) override {}
  };
  options.max_watches = 1;
  const auto sink = std::make_shared<Sink>();
  auto first = client().Watch(Get(), sink);
  EXPECT_EQ(Level("watches"), 1);
  auto second = client().Watch(Get(), sink);
  loop.RunReady();
  EXPECT_EQ(Level("watches"), 1);
  EXPECT_EQ(Met("watches"), 1);
  first.reset();
  loop.RunReady();
  EXPECT_EQ(Level("watches"), 0);
}

TEST_F(ClientMetricsTest, RetriesAreCountedAndSoIsTheLastThatWasNot) {
  options.max_attempts = 3;
  server = [](const HttpRequest&) { return FakeReply::Json(429, ""); };
  EXPECT_FALSE(Send(Get()).ok());
  EXPECT_EQ(Retries("429"), 2);
  EXPECT_EQ(Met("attempts"), 1);
  server = [](const HttpRequest&) { return FakeReply::Error(absl::UnavailableError("reset")); };
  EXPECT_FALSE(Send(Get()).ok());
  EXPECT_EQ(Retries("<error>"), 2);
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
  Start(2);
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
