// Too few connections for all requests: calls, clusters and components each have their share.
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "manager/core/testing/simulated_loop.h"
#include "manager/transport/http_transport.h"
#include "manager/transport/testing/fake_network.h"

namespace mandate {
namespace {

constexpr FakeNetwork::Faults kHttp1 = {.http1 = 100};

class HttpTransportFairnessTest : public ::testing::Test {
 protected:
  void TearDown() override {
    watches_.clear();
    transport_.reset();
    loop_.RunReady();  // its clearing up is over
    for (const std::string& violation : network_->violations()) ADD_FAILURE() << violation;
  }

  void Start(FakeNetwork::Faults faults, HttpOptions options) {
    network_ = std::make_unique<FakeNetwork>(
        loop_, FakeNetwork::Options{.faults = faults, .watch_ends = 0});
    transport_ = *HttpTransport::CreateOn(loop_, options, network_->NewCodec());
  }

  // The answer to a target that starts with /watch never ends.
  HttpRequest Request(const std::string& server, const std::string& component,
                      const std::string& target) {
    auto endpoint = std::make_shared<Endpoint>();
    endpoint->server = server;
    endpoint->ca_pem = "CA";
    HttpRequest request(std::move(endpoint),
                        BearerToken{std::make_shared<const Secret>(std::string("token"))}, "GET",
                        target + std::to_string(++requests_));
    request.user_agent = component;
    return request;
  }

  void Call(const std::string& server, std::function<void()> done,
            const std::string& component = "a") {
    transport_->Call({}, Request(server, component, "/call/"),
                     [done = std::move(done)](absl::StatusOr<HttpResponse>) { done(); });
  }

  // Sends a request, and waits at most `limit` for the answer.
  absl::Status Answer(const std::string& server, const std::string& component,
                      absl::Duration limit = absl::Seconds(5)) {
    absl::Status status = absl::UnknownError("no end");
    transport_->Call(CallContext().WithDeadline(loop_.clock().TimeNow() + limit),
                     Request(server, component, "/call/"),
                     [&status](absl::StatusOr<HttpResponse> answer) { status = answer.status(); });
    loop_.RunUntil([&status] { return !absl::IsUnknown(status); });
    return status;
  }

  // Calls that take until their deadline.
  void Hang(const std::string& server, const std::string& component, int count) {
    for (int i = 0; i < count; ++i) {
      transport_->Call({}, Request(server, component, "/watch/"),
                       [this](absl::StatusOr<HttpResponse> answer) {
                         ++hung_[std::string(absl::StatusCodeToString(answer.status().code()))];
                       });
    }
  }

  struct OpenWatch : StreamSink {
    explicit OpenWatch(int& open_count) : open(open_count) {}
    Flow OnOpen(const HttpResponse&) override {
      ++open;
      return Flow::kContinue;
    }
    Flow OnData(std::string_view) override { return Flow::kContinue; }
    void OnClosed(absl::Status status) override { closed = std::move(status); }

    int& open;
    absl::Status closed;
  };
  struct KeptWatch {
    std::string component;
    std::shared_ptr<OpenWatch> sink;
    std::unique_ptr<Stream> stream;
  };

  void Watch(const std::string& server, const std::string& component, int count = 1) {
    for (int i = 0; i < count; ++i) {
      auto sink = std::make_shared<OpenWatch>(opened_[component]);
      auto stream = transport_->Open(Request(server, component, "/watch/"), sink);
      watches_.push_back({component, std::move(sink), std::move(stream)});
    }
  }

  // Ends `count` of a component's watches, the oldest first.
  void EndWatches(const std::string& component, int count) {
    for (auto it = watches_.begin(); it != watches_.end() && count > 0;) {
      it->component == component ? --count, it = watches_.erase(it) : ++it;
    }
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
  std::map<std::string, int> opened_;  // watches, by component
  std::map<std::string, int> hung_;    // ends of calls that hang
  std::list<KeptWatch> watches_;
  int requests_ = 0;
  int flooded_ = 0;
};

TEST_F(HttpTransportFairnessTest, APoolThatAlwaysWantsConnectionsKeepsNoneFromOthers) {
  // Each connection is closed by its first request, so that the flood needs another all the time.
  Start({.close = 100}, {.max_call_connections = 1});
  for (int i = 0; i < 5; ++i) Flood("https://busy");
  loop_.RunFor(absl::Seconds(10));
  EXPECT_GT(flooded_, 10);
  // It holds for any order of the pools in the map.
  for (const std::string server : {"https://a", "https://b", "https://c", "https://d"}) {
    const int before = flooded_;
    bool done = false;
    Call(server, [&done] { done = true; });
    EXPECT_TRUE(loop_.RunUntil([&done] { return done; }, absl::Minutes(2))) << server;
    EXPECT_LE(flooded_, before + 5) << server;
  }
}

TEST_F(HttpTransportFairnessTest, AnIdleConnectionIsClosedForAnotherPool) {
  Start({}, {.max_call_connections = 1});
  for (const std::string server : {"https://a", "https://b", "https://a", "https://c"}) {
    EXPECT_TRUE(Answer(server, "a").ok()) << server;
  }
  EXPECT_EQ(transport_->stats().connections, 1u);
}

TEST_F(HttpTransportFairnessTest, WithRoomForAllIdleConnectionsStay) {
  Start({}, {.max_call_connections = 3});
  for (const std::string server : {"https://a", "https://b", "https://c", "https://a"}) {
    EXPECT_TRUE(Answer(server, "a").ok()) << server;
  }
  EXPECT_EQ(network_->counts().connections, 3u);
}

TEST_F(HttpTransportFairnessTest, APoolsLastIdleConnectionIsKeptFromLargerPools) {
  Start(kHttp1, {.max_call_connections = 6});
  ASSERT_TRUE(Answer("https://small", "a").ok());
  const size_t before = network_->counts().connections;
  Hang("https://large", "a", 20);
  loop_.RunFor(absl::Seconds(10));
  EXPECT_GT(transport_->stats().waiting, 0u);
  EXPECT_GT(network_->counts().connections, before);
  // On the connection that it had.
  const size_t made = network_->counts().connections;
  EXPECT_TRUE(Answer("https://small", "a").ok());
  EXPECT_EQ(network_->counts().connections, made);
}

TEST_F(HttpTransportFairnessTest, WatchesNeverTakeACallsConnection) {
  // Each watch has its own connection, and 20 watches exceed the limit of stream connections.
  Start(kHttp1, {});
  ASSERT_TRUE(Answer("https://a", "base").ok());
  for (int i = 0; i < 20; ++i) Watch("https://a", "component-" + std::to_string(i), 15);
  loop_.RunFor(absl::Seconds(20));
  EXPECT_GT(transport_->stats().waiting, 0u);
  EXPECT_LE(transport_->stats().stream_connections, HttpOptions().max_stream_connections);
  EXPECT_EQ(transport_->stats().call_connections, 1u);
  const size_t made = network_->counts().connections;
  EXPECT_TRUE(Answer("https://a", "base", absl::Seconds(2)).ok());
  EXPECT_EQ(network_->counts().connections, made);
  EXPECT_TRUE(Answer("https://b", "base", absl::Seconds(2)).ok());
}

TEST_F(HttpTransportFairnessTest, WatchesOfManyClustersNeverTakeACallsConnection) {
  Start(kHttp1, {});
  for (int i = 0; i < 300; ++i) Watch("https://cluster-" + std::to_string(i), "explorer", 2);
  loop_.RunFor(absl::Seconds(20));
  EXPECT_EQ(transport_->stats().stream_connections, HttpOptions().max_stream_connections);
  for (int i = 0; i < 300; ++i) {
    const std::string cluster = "https://cluster-" + std::to_string(i);
    EXPECT_TRUE(Answer(cluster, "explorer", absl::Seconds(2)).ok()) << cluster;
  }
}

TEST_F(HttpTransportFairnessTest, AClusterThatHangsLeavesConnectionsForOthers) {
  Start(kHttp1, {});
  for (int i = 0; i < 5; ++i) Hang("https://hangs", "component-" + std::to_string(i), 64);
  loop_.RunFor(absl::Seconds(10));
  EXPECT_GT(transport_->stats().waiting, 0u);
  for (const std::string server : {"https://b", "https://c", "https://d"}) {
    EXPECT_TRUE(Answer(server, "component-0", absl::Seconds(2)).ok()) << server;
  }
}

struct Protocol {
  const char* name;
  FakeNetwork::Faults faults;
  HttpOptions options;
};

class HttpTransportShareTest : public HttpTransportFairnessTest,
                               public ::testing::WithParamInterface<Protocol> {
 protected:
  void Start() { HttpTransportFairnessTest::Start(GetParam().faults, GetParam().options); }
};

TEST_P(HttpTransportShareTest, AComponentsWatchesLeavePlacesForAnothers) {
  Start();
  Watch("https://a", "greedy", 100);
  loop_.RunFor(absl::Seconds(20));
  const int most = opened_["greedy"];
  EXPECT_GE(most, 10);
  EXPECT_LT(most, 100);
  EXPECT_EQ(transport_->stats().limited_share, transport_->stats().waiting);
  Watch("https://a", "modest", 2);
  EXPECT_TRUE(loop_.RunUntil([this] { return opened_["modest"] == 2; }, absl::Seconds(5)));
  EXPECT_LE(opened_["greedy"], most);
}

TEST_P(HttpTransportShareTest, FreedPlacesGoToWaitingComponents) {
  Start();
  Watch("https://a", "greedy", 100);
  loop_.RunFor(absl::Seconds(10));
  const int most = opened_["greedy"];
  // As many waiting watches start as others have ended, and none is forgotten.
  EndWatches("greedy", 5);
  EXPECT_TRUE(loop_.RunUntil([&] { return opened_["greedy"] == most + 5; }, absl::Seconds(10)));
}

TEST_P(HttpTransportShareTest, AComponentsCallsThatHangLeavePlacesForAnothers) {
  Start();
  Hang("https://a", "greedy", 100);
  loop_.RunFor(absl::Seconds(20));
  EXPECT_GT(transport_->stats().waiting, 0u);
  EXPECT_TRUE(Answer("https://a", "modest").ok());
}

TEST_P(HttpTransportShareTest, AComponentsQueueLeavesPlacesForAnothers) {
  Start();
  for (int i = 0; i < 3; ++i) {
    Hang("https://a", "greedy", 100);
    loop_.RunFor(absl::Seconds(10));
  }
  // 80 of 100 places to wait.
  EXPECT_EQ(transport_->stats().waiting, 80u);
  EXPECT_GT(hung_["RESOURCE_EXHAUSTED"], 0);
  Hang("https://a", "other", 30);
  loop_.RunFor(absl::Seconds(10));
  EXPECT_GT(transport_->stats().waiting, 80u);
  EXPECT_TRUE(Answer("https://a", "modest").ok());
}

INSTANTIATE_TEST_SUITE_P(, HttpTransportShareTest,
                         ::testing::Values(Protocol{"Http1",
                                                    kHttp1,
                                                    {.max_call_connections = 32,
                                                     .max_stream_connections = 32,
                                                     .max_queued_requests = 100}},
                                           Protocol{"Http2",
                                                    {},
                                                    {.streams_per_connection = 9,
                                                     .max_call_connections = 4,
                                                     .max_stream_connections = 4,
                                                     .max_queued_requests = 100}}),
                         [](const auto& test) { return std::string(test.param.name); });

TEST_F(HttpTransportFairnessTest, PlacesThatAnotherClusterGivesBackAreNoticed) {
  Start(kHttp1, {.max_stream_connections = 10});
  Watch("https://a", "a", 20);
  loop_.RunFor(absl::Seconds(5));
  Watch("https://b", "b", 20);
  loop_.RunFor(absl::Seconds(5));
  const int before = opened_["b"];
  EXPECT_LT(before, 5);
  EndWatches("a", 20);
  EXPECT_TRUE(loop_.RunUntil([&] { return opened_["b"] >= 5; }, absl::Seconds(10)));
}

}  // namespace
}  // namespace mandate
