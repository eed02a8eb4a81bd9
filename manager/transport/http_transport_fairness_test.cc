// Pools that share too few connections: each has its turn.
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "manager/core/testing/simulated_loop.h"
#include "manager/transport/http_transport.h"
#include "manager/transport/testing/fake_network.h"

namespace mandate {
namespace {

class HttpTransportFairnessTest : public ::testing::Test {
 protected:
  void TearDown() override {
    transport_.reset();
    loop_.RunReady();  // its clearing up is over
  }

  void Start(FakeNetwork::Faults faults, size_t max_connections) {
    network_ = std::make_unique<FakeNetwork>(loop_, FakeNetwork::Options{.faults = faults});
    transport_ =
        *HttpTransport::CreateOn(loop_, {.max_connections = max_connections}, network_->NewWire());
  }

  void Call(const std::string& server, std::function<void()> done) {
    auto endpoint = std::make_shared<Endpoint>();
    endpoint->server = server;
    endpoint->ca_pem = "CA";
    HttpRequest request(std::move(endpoint),
                        BearerToken{std::make_shared<const Secret>(std::string("token"))}, "GET",
                        "/call/" + std::to_string(++calls_));
    transport_->Call({}, std::move(request),
                     [done = std::move(done)](absl::StatusOr<HttpResponse>) { done(); });
  }

  // Keeps the server busy for ever.
  void Flood(const std::string& server) {
    Call(server, [this, server] {
      ++flooded_;
      if (transport_ != nullptr) Flood(server);
    });
  }

  SimulatedLoop loop_;
  std::unique_ptr<FakeNetwork> network_;
  std::unique_ptr<HttpTransport> transport_;
  int calls_ = 0;
  int flooded_ = 0;
};

TEST_F(HttpTransportFairnessTest, APoolThatAlwaysWantsConnectionsKeepsNoneFromOthers) {
  // Each connection is closed by its first request, so that the flood needs another all the time.
  Start({.close = 100}, 1);
  for (int i = 0; i < 5; ++i) Flood("https://busy");
  loop_.RunFor(absl::Seconds(10));
  EXPECT_GT(flooded_, 10);
  // Whichever stands first in the map of pools.
  for (const std::string server : {"https://a", "https://b", "https://c", "https://d"}) {
    const int before = flooded_;
    bool done = false;
    Call(server, [&done] { done = true; });
    EXPECT_TRUE(loop_.RunUntil([&done] { return done; }, absl::Minutes(2))) << server;
    EXPECT_LE(flooded_, before + 5) << server;
  }
}

TEST_F(HttpTransportFairnessTest, AnIdleConnectionGivesWay) {
  Start({}, 1);
  for (const std::string server : {"https://a", "https://b", "https://a", "https://c"}) {
    const absl::Time start = loop_.clock().TimeNow();
    bool done = false;
    Call(server, [&done] { done = true; });
    EXPECT_TRUE(loop_.RunUntil([&done] { return done; }, absl::Minutes(2))) << server;
    EXPECT_LE(loop_.clock().TimeNow() - start, absl::Seconds(5)) << server;
  }
  EXPECT_EQ(transport_->stats().connections, 1u);
}

TEST_F(HttpTransportFairnessTest, WithRoomForAllIdleConnectionsStay) {
  Start({}, 3);
  for (const std::string server : {"https://a", "https://b", "https://c", "https://a"}) {
    bool done = false;
    Call(server, [&done] { done = true; });
    EXPECT_TRUE(loop_.RunUntil([&done] { return done; }, absl::Minutes(2)));
  }
  EXPECT_EQ(network_->counts().connections, 3u);
}

}  // namespace
}  // namespace mandate
