// Connections that have gone dead while their sockets look well.
#include <memory>
#include <mutex>
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

class HttpTransportKeepaliveTest : public TransportFixture {
 protected:
  void StartQuietServer(H2Server::Options options = {}) {
    StartServer(
        [this](std::shared_ptr<ServerStream> stream) {
          const ServerRequest& request = stream->request();
          if (request.target == "/livez") {
            const std::lock_guard lock(probes_mutex_);
            probed_as_.push_back(std::string(request.Header("user-agent")) + " " +
                                 std::string(request.Header("authorization")));
            // Who asks may not be allowed to; that is an answer too.
            stream->Respond(403, "{}");
          } else if (request.target == "/hang") {
            Keep(std::move(stream));
          } else {
            stream->Open();
            stream->Send("x");
          }
        },
        std::move(options));
    StartTransport(
        {.silence_limit = absl::Milliseconds(100), .probe_timeout = absl::Milliseconds(200)});
  }

  std::vector<Watch> OpenMany(int count) {
    std::vector<Watch> watches;
    for (int i = 0; i < count; ++i) watches.push_back(Open(Request("/watch")));
    EXPECT_TRUE(Eventually([&] {
      for (const Watch& watch : watches) {
        if (watch.sink->data().empty()) return false;
      }
      return true;
    }));
    return watches;
  }

  std::mutex probes_mutex_;
  std::vector<std::string> probed_as_;
};

TEST_F(HttpTransportKeepaliveTest, AServerThatHangsLosesAllItsStreams) {
  StartQuietServer();
  std::vector<Watch> watches = OpenMany(20);
  server_->SetStalled(true);
  for (const Watch& watch : watches) {
    ASSERT_TRUE(Eventually([&] { return watch.sink->closed().has_value(); }));
    EXPECT_EQ(watch.sink->closed()->code(), absl::StatusCode::kUnavailable);
    EXPECT_THAT(std::string(watch.sink->closed()->message()), HasSubstr("not even an answer"));
  }
  EXPECT_EQ(Stats().connections_lost, 1u);
  // A new connection is a new chance.
  std::vector<Watch> next = OpenMany(1);
  EXPECT_EQ(server_->stats().accepted, 2u);
  OnLoop([&] {
    watches.clear();
    next.clear();
  });
}

TEST_F(HttpTransportKeepaliveTest, AQuietServerKeepsItsStreams) {
  StartQuietServer();
  std::vector<Watch> watches = OpenMany(3);
  ASSERT_TRUE(Eventually([this] {
    const std::lock_guard lock(probes_mutex_);
    return probed_as_.size() >= 5;
  }));
  for (const Watch& watch : watches) EXPECT_FALSE(watch.sink->closed().has_value());
  EXPECT_EQ(server_->stats().accepted, 1u);
  EXPECT_EQ(Stats().connections_lost, 0u);
  OnLoop([&] { watches.clear(); });
  const std::lock_guard lock(probes_mutex_);
  EXPECT_EQ(probed_as_.front(), "test Bearer token");
}

TEST_F(HttpTransportKeepaliveTest, HalfAProbeAnswerDoesNotEndProbing) {
  StartServer([this](std::shared_ptr<ServerStream> stream) {
    const bool probe = stream->request().target == "/livez";
    stream->Open();
    if (!probe) stream->Send("x");
    Keep(std::move(stream));
  });
  StartTransport(
      {.silence_limit = absl::Milliseconds(100), .probe_timeout = absl::Milliseconds(200)});
  std::vector<Watch> watches = OpenMany(1);
  // Each is answered by a head alone, which shows that the server is there.
  ASSERT_TRUE(Eventually([this] { return Stats().probes >= 3; }));
  EXPECT_FALSE(watches[0].sink->closed().has_value());
  server_->SetStalled(true);
  EXPECT_TRUE(Eventually([&] { return watches[0].sink->closed().has_value(); }));
  EXPECT_EQ(Stats().connections_lost, 1u);
  OnLoop([&] { watches.clear(); });
}

TEST_F(HttpTransportKeepaliveTest, ACallOnADeadConnectionEndsToo) {
  StartQuietServer();
  const auto call = StartCall(Request("/hang"));
  ASSERT_TRUE(Eventually([this] { return server_->stats().requests == 1; }));
  server_->SetStalled(true);
  loop_->Await(call->done);
  EXPECT_EQ(call->result.status().code(), absl::StatusCode::kUnavailable);
}

TEST_F(HttpTransportKeepaliveTest, AnAnsweredProbeKeepsASlowCall) {
  StartQuietServer();
  const auto call = StartCall(Request("/hang"));
  ASSERT_TRUE(Eventually([this] { return Stats().probes >= 3; }));
  EXPECT_FALSE(call->done.IsSet());
  TakeKept().at(0)->Respond(200, "late");
  loop_->Await(call->done);
  EXPECT_EQ(call->result->body, "late");
}

TEST_F(HttpTransportKeepaliveTest, IdleConnectionsAreNotProbed) {
  StartQuietServer();
  ASSERT_TRUE(Call(Request("/livez")).ok());
  const uint64_t probes = Stats().probes;
  const absl::Time later = loop_->clock().TimeNow() + absl::Milliseconds(400);
  EXPECT_TRUE(Eventually([&] { return loop_->clock().TimeNow() > later; }));
  EXPECT_EQ(Stats().probes, probes);
  EXPECT_EQ(Stats().connections, 1u);
}

TEST_F(HttpTransportKeepaliveTest, Http1IsNotProbed) {
  StartQuietServer({.http2 = false});
  std::vector<Watch> watches = OpenMany(2);
  const absl::Time later = loop_->clock().TimeNow() + absl::Milliseconds(600);
  EXPECT_TRUE(Eventually([&] { return loop_->clock().TimeNow() > later; }));
  for (const Watch& watch : watches) EXPECT_FALSE(watch.sink->closed().has_value());
  EXPECT_EQ(Stats().probes, 0u);
  OnLoop([&] { watches.clear(); });
}

}  // namespace
}  // namespace mandate
