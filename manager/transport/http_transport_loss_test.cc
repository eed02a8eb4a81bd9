// Requests whose connection gets a GOAWAY, refuses their streams, or is closed.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "manager/transport/http_transport.h"
#include "manager/transport/testing/connections_fixture.h"
#include "manager/transport/testing/h2_server.h"

namespace mandate {
namespace {

using ::testing::HasSubstr;

constexpr uint32_t kRefusedStream = 7;  // RFC 9113, 7

class HttpTransportLossTest : public ConnectionsFixture {};

TEST_F(HttpTransportLossTest, StreamsSurviveGoAwayAndNewOnesGoElsewhere) {
  StartServer([this](std::shared_ptr<ServerStream> stream) {
    stream->Open();
    stream->Send(std::to_string(stream->request().connection));
    Keep(std::move(stream));
  });
  StartTransport();
  std::vector<Watch> old = OpenMany(5);
  ASSERT_TRUE(AllOpen(old));
  server_->GoAway();
  std::vector<Watch> more = OpenMany(0);
  for (int i = 0; i < 3; ++i) more.push_back(Open(Request("/watch/new")));
  ASSERT_TRUE(AllOpen(more));
  for (const Watch& watch : more) EXPECT_EQ(watch.sink->data(), "2");
  for (const auto& stream : TakeKept()) {
    if (stream->request().connection == 1) stream->Send("+");
  }
  for (const Watch& watch : old) {
    EXPECT_TRUE(Eventually([&] { return watch.sink->data() == "1+"; }));
    EXPECT_FALSE(watch.sink->closed().has_value());
  }
  // When the last of them ends, the connection is closed.
  CloseAll(old);
  EXPECT_TRUE(Eventually([this] { return server_->stats().connected == 1; }));
  EXPECT_TRUE(Eventually([this] { return Stats().connections == 1; }));
  for (const Watch& watch : more) EXPECT_FALSE(watch.sink->closed().has_value());
  CloseAll(more);
}

TEST_F(HttpTransportLossTest, CallsSurviveGoAwayAfterEveryAnswer) {
  // As an API server's 401 does.
  StartServer([this](std::shared_ptr<ServerStream> stream) {
    stream->Respond(401, "{}");
    server_->GoAway();
  });
  StartTransport();
  for (int round = 0; round < 5; ++round) {
    std::vector<std::shared_ptr<AsyncCall>> calls;
    for (int i = 0; i < 10; ++i) calls.push_back(StartCall(Request("/")));
    for (const auto& call : calls) {
      loop_->Await(call->done);
      ASSERT_TRUE(call->result.ok()) << call->result.status();
      EXPECT_EQ(call->result->code, 401);
    }
  }
}

TEST_F(HttpTransportLossTest, ARefusedRequestIsSentAgainAndNotForEver) {
  StartServer([this](std::shared_ptr<ServerStream> stream) {
    const ServerRequest& request = stream->request();
    const int times = CountUp(request.method + " " + request.target);
    if (request.target == "/always" || (request.target == "/twice" && times <= 2)) {
      stream->Reset(kRefusedStream);
    } else {
      stream->Respond(200, std::to_string(request.connection));
    }
  });
  StartTransport();
  EXPECT_EQ(Connection(Request("/")), "1");
  EXPECT_EQ(Connection(Request("/twice")), "3");
  EXPECT_EQ(Connection(Request("/twice", "t", "POST")), "5");
  EXPECT_EQ(Stats().resends, 4u);
  for (const char* method : {"GET", "POST"}) {
    const auto answer = Call(Request("/always", "t", method));
    EXPECT_EQ(answer.status().code(), absl::StatusCode::kUnavailable) << answer.status();
    EXPECT_THAT(std::string(answer.status().message()), HasSubstr("refuses requests"));
    EXPECT_EQ(CountOf(std::string(method) + " /always"), 9);
  }
}

TEST_F(HttpTransportLossTest, RequestsThatGoAwayExcludesAreNotLost) {
  // What an API server does after a 401, while others' requests are under way.
  StartServer([this](std::shared_ptr<ServerStream> stream) {
    const ServerRequest& request = stream->request();
    CountUp(request.method + request.target);
    stream->Respond(request.target == "/bad" ? 401 : 200, "{}");
    if (request.target == "/bad") server_->GoAway();
  });
  StartTransport();
  for (int round = 0; round < 50; ++round) {
    std::vector<std::shared_ptr<AsyncCall>> calls;
    OnLoop([&] {
      for (int i = 0; i < 15; ++i) {
        calls.push_back(std::make_shared<AsyncCall>());
        transport_->Call({},
                         Request(i % 3 == 0 ? "/bad" : "/good" + std::to_string(round * 100 + i),
                                 "t", i % 3 == 2 ? "POST" : "GET"),
                         Into(calls.back()));
      }
    });
    for (size_t i = 0; i < calls.size(); ++i) {
      loop_->Await(calls[i]->done);
      ASSERT_TRUE(calls[i]->result.ok()) << calls[i]->result.status();
      EXPECT_EQ(calls[i]->result->code, i % 3 == 0 ? 401 : 200);
      if (i % 3 == 2) {
        EXPECT_EQ(CountOf("POST/good" + std::to_string(round * 100 + i)), 1);
      }
    }
  }
}

TEST_F(HttpTransportLossTest, AConnectionClosedUnderARequestRepeatsReadsOnly) {
  StartServer([this](std::shared_ptr<ServerStream> stream) {
    const ServerRequest& request = stream->request();
    const int times = CountUp(request.method + " " + request.target);
    if (request.target == "/close" && times == 1) {
      server_->CloseConnections();
    } else {
      stream->Respond(200, std::to_string(request.connection));
    }
  });
  StartTransport();
  EXPECT_EQ(Connection(Request("/")), "1");
  EXPECT_EQ(Connection(Request("/close")), "2");
  const auto post = Call(Request("/close", "t", "POST"));
  EXPECT_EQ(post.status().code(), absl::StatusCode::kUnavailable) << post.status();
  EXPECT_THAT(std::string(post.status().message()), HasSubstr("whether the request was served"));
  // Not even libcurl sent it again.
  EXPECT_EQ(Connection(Request("/")), "3");
  EXPECT_EQ(CountOf("POST /close"), 1);
}

TEST_F(HttpTransportLossTest, AConnectionClosedWhileIdleLosesNothing) {
  StartPlainServer();
  StartTransport();
  for (int i = 1; i <= 3; ++i) {
    const auto answer = Call(Request("/", "t", "POST"));
    ASSERT_TRUE(answer.ok()) << answer.status();
    EXPECT_EQ(answer->body, std::to_string(i));
    server_->CloseConnections();
    ASSERT_TRUE(Eventually([this] { return server_->stats().connected == 0; }));
  }
}

TEST_F(HttpTransportLossTest, ClosesAConnectionThatDrainsTooLong) {
  StartPlainServer();
  StartTransport({.drain_timeout = absl::Milliseconds(50)});
  std::vector<Watch> old = OpenMany(2);
  ASSERT_TRUE(AllOpen(old));
  server_->GoAway();
  std::vector<Watch> next = OpenMany(1);
  ASSERT_TRUE(AllOpen(next));
  for (const Watch& watch : old) {
    EXPECT_TRUE(Eventually([&] { return watch.sink->closed().has_value(); }));
    EXPECT_EQ(watch.sink->closed()->code(), absl::StatusCode::kUnavailable);
  }
  EXPECT_TRUE(Eventually([this] { return server_->stats().connected == 1; }));
  EXPECT_FALSE(next[0].sink->closed().has_value());
  CloseAll(old);
  CloseAll(next);
}

TEST_F(HttpTransportLossTest, Http1SurvivesConnectionsThatCloseAfterEachAnswer) {
  StartServer(
      [this](std::shared_ptr<ServerStream> stream) {
        server_->GoAway();  // "Connection: close"
        stream->Respond(200, std::to_string(stream->request().connection));
      },
      {.http2 = false});
  StartTransport();
  for (int i = 1; i <= 3; ++i) EXPECT_EQ(Connection(Request("/")), std::to_string(i));
}

}  // namespace
}  // namespace mandate
