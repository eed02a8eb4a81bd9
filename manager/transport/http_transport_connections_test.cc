// The choice of a connection for a request, and the number of connections.
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "manager/transport/http_transport.h"
#include "manager/transport/testing/h2_server.h"
#include "manager/transport/testing/transport_fixture.h"

namespace mandate {
namespace {

using ::testing::HasSubstr;

using HttpTransportConnectionsTest = TransportFixture;

TEST_F(HttpTransportConnectionsTest, SpreadsWatchesOverFewConnections) {
  Start();
  std::vector<Watch> watches = OpenMany(250);
  ASSERT_TRUE(AllOpen(watches));
  // 99 on each connection, because one stream is kept for the probe.
  EXPECT_EQ(Stats().sockets_opened, 3u);
  EXPECT_EQ(Stats().connections, 3u);
  EXPECT_EQ(Stats().active, 250u);
  EXPECT_EQ(server_->stats().accepted, 3u);
  EXPECT_EQ(server_->stats().open_streams, 250u);
  EXPECT_LE(server_->stats().most_streams_on_a_connection, 100u);
  watches.clear();
  EXPECT_TRUE(Eventually([this] { return server_->stats().open_streams == 0; }));
}

TEST_F(HttpTransportConnectionsTest, WatchesOpenedOneByOneFillConnections) {
  Start({.streams_per_connection = 5});
  std::vector<Watch> watches;
  for (int i = 0; i < 9; ++i) {
    watches.push_back(Open(Request("/watch")));
    ASSERT_TRUE(AllOpen(watches));
  }
  EXPECT_EQ(Stats().sockets_opened, 3u);
  EXPECT_LE(server_->stats().most_streams_on_a_connection, 4u);
}

TEST_F(HttpTransportConnectionsTest, FiftyTokensShareAConnection) {
  StartServer([this](std::shared_ptr<ServerStream> stream) {
    CountUp(std::string(stream->request().Header("authorization")));
    stream->Respond(200, "");
  });
  StartTransport();
  std::vector<HttpRequest> requests;
  for (int i = 0; i < 50; ++i) requests.push_back(Request("/", "t" + std::to_string(i)));
  const auto calls = StartCalls(std::move(requests));
  for (const auto& call : calls) {
    EXPECT_TRUE(Await(call).ok()) << call->result.status();
  }
  EXPECT_EQ(server_->stats().accepted, 1u);
  for (int i = 0; i < 50; ++i) EXPECT_EQ(CountOf("Bearer t" + std::to_string(i)), 1);
}

TEST_F(HttpTransportConnectionsTest, WatchesNeverKeepACallWaiting) {
  Start({.streams_per_connection = 3, .max_stream_connections = 3});
  // Each is on a connection whose other place belongs to another component.
  std::vector<Watch> watches = OpenMany(6);
  ASSERT_TRUE(AllOpen(watches));
  // They fill the existing connections.
  std::vector<Watch> one_more = OpenMany(1);
  EXPECT_EQ(Stats().waiting, 1u);
  const std::string connection = Ask(Request("/"));
  for (const Watch& watch : watches) EXPECT_NE(watch.sink->data(), connection);
  EXPECT_EQ(Stats().stream_connections, 3u);
  EXPECT_EQ(Stats().call_connections, 1u);
  watches.clear();
  ASSERT_TRUE(AllOpen(one_more));
}

TEST_F(HttpTransportConnectionsTest, RespectsAServersLowerStreamLimit) {
  Start({}, {.max_concurrent_streams = 10});
  std::vector<Watch> watches = OpenMany(65);
  ASSERT_TRUE(AllOpen(watches));
  EXPECT_LE(server_->stats().most_streams_on_a_connection, 10u);
  EXPECT_EQ(server_->stats().accepted, 7u);
  EXPECT_EQ(Stats().connections_drained, 0u);
}

TEST_F(HttpTransportConnectionsTest, ACertificateNeverSharesAConnectionWithAToken) {
  TestCa client_ca("client CA");
  StartServer(
      [](std::shared_ptr<ServerStream> stream) {
        const ServerRequest& request = stream->request();
        stream->Respond(200, std::to_string(request.connection) + " " + request.client_common_name +
                                 " " + std::string(request.Header("authorization")));
      },
      {.client_ca = &client_ca});
  StartTransport();
  const KeyPair pair = client_ca.IssueClient("admin", {"system:masters"});
  ChangeEndpoint([&](Endpoint& endpoint) {
    endpoint.client_certificate =
        ClientCertificate{pair.certificate_pem, std::make_shared<const Secret>(pair.key_pem)};
  });

  HttpRequest by_certificate = Request("/");
  by_certificate.credential = EndpointCertificate{};
  EXPECT_EQ(Ask(by_certificate), "1 admin ");
  // The same endpoint, with the same certificate.
  EXPECT_EQ(Ask(Request("/", "token")), "2  Bearer token");
  EXPECT_EQ(Ask(by_certificate), "1 admin ");
  EXPECT_EQ(Ask(Request("/", "other")), "2  Bearer other");

  const KeyPair second = client_ca.IssueClient("second");
  ChangeEndpoint([&](Endpoint& endpoint) {
    endpoint.client_certificate =
        ClientCertificate{second.certificate_pem, std::make_shared<const Secret>(second.key_pem)};
  });
  by_certificate.endpoint = endpoint_;
  EXPECT_EQ(Ask(by_certificate), "3 second ");
}

TEST_F(HttpTransportConnectionsTest, ReportsAKeyThatDoesNotMatchItsCertificate) {
  TestCa client_ca("client CA");
  Start({}, {.client_ca = &client_ca});
  ChangeEndpoint([&](Endpoint& endpoint) {
    endpoint.client_certificate =
        ClientCertificate{client_ca.IssueClient("a").certificate_pem,
                          std::make_shared<const Secret>(client_ca.IssueClient("b").key_pem)};
  });
  HttpRequest request = Request("/");
  request.credential = EndpointCertificate{};
  const auto answer = Call(std::move(request));
  EXPECT_EQ(answer.status().code(), absl::StatusCode::kInvalidArgument) << answer.status();
  EXPECT_THAT(std::string(answer.status().message()), HasSubstr("kubeconfig"));
}

TEST_F(HttpTransportConnectionsTest, ARotatedCaGetsANewConnection) {
  Start();
  EXPECT_EQ(Ask(Request("/")), "1");
  ChangeEndpoint(
      [&](Endpoint& endpoint) { endpoint.ca_pem += TestCa("next CA").certificate_pem(); });
  EXPECT_EQ(Ask(Request("/")), "2");
}

TEST_F(HttpTransportConnectionsTest, ASlowFirstAnswerKeepsOthersWaitingForAMomentOnly) {
  Start({.suspect_connection_after = absl::Milliseconds(50)});
  const auto slow = StartCall(Request("/hold"));
  ASSERT_TRUE(Eventually([this] { return CountOf("GET /hold") == 1; }));
  EXPECT_TRUE(Call(Request("/fast")).ok());
  EXPECT_FALSE(slow->done.IsSet());
  TakeKept().at(0)->Respond(200, "");
  EXPECT_TRUE(Await(slow).ok());
}

TEST_F(HttpTransportConnectionsTest, IdleConnectionsAreClosed) {
  Start({.idle_timeout = absl::Milliseconds(50)});
  EXPECT_EQ(Ask(Request("/")), "1");
  EXPECT_TRUE(Eventually([this] { return server_->stats().connected == 0; }));
  EXPECT_EQ(Stats().connections, 0u);
  EXPECT_EQ(Ask(Request("/")), "2");
}

TEST_F(HttpTransportConnectionsTest, Http1WorksWithAConnectionForEach) {
  Start({}, {.http2 = false});
  EXPECT_EQ(Ask(Request("/")), "1");
  EXPECT_EQ(Ask(Request("/")), "1");
  std::vector<Watch> watches = OpenMany(5);
  ASSERT_TRUE(AllOpen(watches));
  std::set<std::string> connections;
  for (const Watch& watch : watches) connections.insert(watch.sink->data());
  EXPECT_EQ(connections.size(), 5u);
  EXPECT_EQ(Ask(Request("/", "t", "POST")), "1");
  watches.clear();
  // Cancelling them closed their connections.
  EXPECT_TRUE(Eventually([this] { return server_->stats().connected == 1; }));
  EXPECT_TRUE(Eventually([this] { return Stats().connections == 1; }));
}

}  // namespace
}  // namespace mandate
