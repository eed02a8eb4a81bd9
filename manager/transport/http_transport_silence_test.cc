// Servers that are silent, at every stage of a connection, and connections whose other end is gone.
#include <arpa/inet.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "manager/core/strings.h"
#include "manager/transport/http_transport.h"
#include "manager/transport/testing/h2_server.h"
#include "manager/transport/testing/transport_fixture.h"

namespace mandate {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr absl::Duration kShort = absl::Milliseconds(200);
constexpr absl::Duration kLong = absl::Hours(1);

// A port that neither accepts nor refuses connections: no packet comes back.
class LostPort {
 public:
  LostPort() : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sock_filter drop = BPF_STMT(BPF_RET | BPF_K, 0);
    const sock_fprog program = {.len = 1, .filter = &drop};
    lost_ = setsockopt(fd_, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) == 0;
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    socklen_t size = sizeof address;
    EXPECT_EQ(bind(fd_, generic, size), 0);
    EXPECT_EQ(listen(fd_, 1), 0);
    EXPECT_EQ(getsockname(fd_, generic, &size), 0);
    port_ = ntohs(address.sin_port);
  }
  ~LostPort() { close(fd_); }
  std::string url() const { return StrCat("https://127.0.0.1:", port_); }
  // Otherwise the kernel does not allow it in this process (in a sandbox).
  bool lost() const { return lost_; }

 private:
  const int fd_;
  uint16_t port_ = 0;
  bool lost_ = false;
};

class HttpTransportSilenceTest : public TransportFixture {
 protected:
  Watch OpenOne() {
    Watch watch = Open(Request("/watch"));
    EXPECT_TRUE(Eventually([&] { return !watch.sink->data().empty(); }));
    return watch;
  }

  // A call and a watch both end with kUnavailable.
  std::string BothFail() {
    Watch watch = Open(Request("/watch"));
    const auto answer = Call(Request("/"));
    EXPECT_EQ(answer.status().code(), absl::StatusCode::kUnavailable) << answer.status();
    EXPECT_EQ(EndOf(watch).code(), absl::StatusCode::kUnavailable);
    return std::string(answer.status().message());
  }

  void BothWork() {
    EXPECT_TRUE(Call(Request("/")).ok());
    OpenOne();
  }
};

TEST_F(HttpTransportSilenceTest, NothingAnswersAtTheAddress) {
  const LostPort lost;
  if (!lost.lost()) GTEST_SKIP() << "the kernel forbids it";
  Start({.connect_timeout = kShort});
  const auto here = endpoint_;
  ChangeEndpoint([&](Endpoint& endpoint) { endpoint.server = lost.url(); });
  EXPECT_THAT(BothFail(), AllOf(HasSubstr(lost.url()), HasSubstr("running and reachable")));
  endpoint_ = here;
  BothWork();
}

TEST_F(HttpTransportSilenceTest, TheHandshakeNeverEnds) {
  Start({.connect_timeout = kShort});
  server_->SetAccepting(H2Server::Accepting::kIgnore);
  EXPECT_THAT(BothFail(), HasSubstr("no connection"));
  server_->SetAccepting(H2Server::Accepting::kServe);
  BothWork();
}

TEST_F(HttpTransportSilenceTest, NothingComesAfterTheHandshake) {
  // Not even SETTINGS come. For calls and watches only the probe finds this out in time.
  Start({.time_to_headers = kLong, .read_idle_timeout = kShort, .probe_timeout = kShort});
  server_->SetAccepting(H2Server::Accepting::kMute);
  EXPECT_THAT(BothFail(), HasSubstr("not even a response to a probe"));
  EXPECT_EQ(Stats().connections_lost, 2u);
  server_->SetAccepting(H2Server::Accepting::kServe);
  BothWork();
}

TEST_F(HttpTransportSilenceTest, TheBodyStalls) {
  Start({.read_idle_timeout = kShort, .probe_timeout = kShort});
  Watch watch = OpenOne();
  const auto call = StartCall(Request("/half"));
  ASSERT_TRUE(Eventually([this] { return CountOf("GET /half") == 1; }));
  server_->SetStalled(true);
  EXPECT_EQ(Await(call).status().code(), absl::StatusCode::kUnavailable) << call->result.status();
  EXPECT_EQ(EndOf(watch).code(), absl::StatusCode::kUnavailable);
  BothWork();
}

// The connection is open, and no packet passes any more. The deadline of a call shows it long
// before silence would.
TEST_F(HttpTransportSilenceTest, ACallThatRunsOutOfTimeHasTheWatchesProbed) {
  Start({.read_idle_timeout = kLong,
         .probe_timeout = kShort,
         .suspect_connection_after = absl::Milliseconds(100)});
  Watch watch = OpenOne();
  ASSERT_TRUE(Call(Request("/")).ok());
  server_->SetStalled(true);
  EXPECT_EQ(Call(Request("/"), Within(absl::Milliseconds(300))).status().code(),
            absl::StatusCode::kDeadlineExceeded);
  EXPECT_TRUE(Call(Request("/")).ok());
  EXPECT_THAT(std::string(EndOf(watch).message()), HasSubstr("not even a response"));
  BothWork();
  EXPECT_EQ(Stats().connections_suspected, 1u);
  EXPECT_EQ(Stats().connections_lost, 1u);
}

TEST_F(HttpTransportSilenceTest, OneBodyStallsAndTheOthersGoOn) {
  Start({.read_idle_timeout = kShort, .probe_timeout = kShort});
  const auto call = StartCall(Request("/half"), Within(absl::Seconds(1)));
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(Call(Request("/")).ok());
  loop_->Await(call->done);
  // The connection is alive: only the call's own deadline ends it.
  EXPECT_EQ(call->result.status().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(Stats().connections_lost, 0u);
  EXPECT_EQ(server_->stats().accepted, 1u);
}

TEST_F(HttpTransportSilenceTest, TheOtherEndIsGoneAndTheProbeFindsIt) {
  Start({.read_idle_timeout = kShort, .probe_timeout = kShort, .tcp_user_timeout = kLong});
  Watch watch = OpenOne();
  if (!server_->BlackHole()) GTEST_SKIP() << "the kernel forbids it";
  EXPECT_EQ(EndOf(watch).code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(Stats().connections_lost, 1u);
  BothWork();
}

TEST_F(HttpTransportSilenceTest, TheOtherEndIsGoneAndTheKernelFindsIt) {
  Start({.read_idle_timeout = kLong, .probe_timeout = kLong, .tcp_user_timeout = kShort});
  Watch watch = OpenOne();
  if (!server_->BlackHole()) GTEST_SKIP() << "the kernel forbids it";
  // A request must be in flight that is not acknowledged. No byte of its answer came, so it is sent
  // again.
  Watch next = Open(Request("/watch"));
  EXPECT_EQ(EndOf(watch).code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(EndOf(watch).message()), Not(HasSubstr("no connection")));
  EXPECT_TRUE(Has(next, "2"));
  EXPECT_EQ(server_->stats().accepted, 2u);
  EXPECT_EQ(Stats().connections_lost, 0u);
  BothWork();
}

TEST_F(HttpTransportSilenceTest, AnIdleConnectionWhoseOtherEndIsGone) {
  Start({.read_idle_timeout = kShort, .probe_timeout = kShort});
  EXPECT_TRUE(Call(Request("/")).ok());
  if (!server_->BlackHole()) GTEST_SKIP() << "the kernel forbids it";
  // It is unknown whether the request arrived.
  const auto post = Call(Request("/", "t", "POST"));
  EXPECT_EQ(post.status().code(), absl::StatusCode::kUnavailable) << post.status();
  EXPECT_TRUE(Call(Request("/")).ok());
}

TEST_F(HttpTransportSilenceTest, ACallOverHttp1EndsByItsDeadline) {
  Start({.max_call_duration = absl::Milliseconds(500),
         .read_idle_timeout = absl::Milliseconds(50),
         .suspect_connection_after = absl::Milliseconds(50)},
        {.http2 = false});
  const auto call = StartCall(Request("/hold"));
  EXPECT_TRUE(Call(Request("/")).ok());
  EXPECT_EQ(Await(call).status().code(), absl::StatusCode::kDeadlineExceeded);
}

using HttpTransportKeepaliveTest = TransportFixture;

const HttpOptions kQuickProbes = {.read_idle_timeout = absl::Milliseconds(100),
                                  .probe_timeout = kShort};

TEST_F(HttpTransportKeepaliveTest, AServerThatHangsLosesAllItsStreams) {
  Start(kQuickProbes);
  std::vector<Watch> watches = OpenMany(20);
  ASSERT_TRUE(AllOpen(watches));
  server_->SetStalled(true);
  for (const Watch& watch : watches) {
    EXPECT_EQ(EndOf(watch).code(), absl::StatusCode::kUnavailable);
    EXPECT_THAT(std::string(EndOf(watch).message()), HasSubstr("not even a response"));
  }
  EXPECT_EQ(Stats().connections_lost, 1u);
  // A new connection may work.
  std::vector<Watch> next = OpenMany(1);
  ASSERT_TRUE(AllOpen(next));
  EXPECT_EQ(server_->stats().accepted, 2u);
}

TEST_F(HttpTransportKeepaliveTest, AQuietServerKeepsItsStreams) {
  Start(kQuickProbes);
  std::vector<Watch> watches = OpenMany(3);
  ASSERT_TRUE(AllOpen(watches));
  // With the identity of one of the streams.
  ASSERT_TRUE(Eventually([this] { return CountOf("GET /livez") >= 5; }));
  for (const Watch& watch : watches) EXPECT_FALSE(watch.sink->closed().has_value());
  EXPECT_EQ(server_->stats().accepted, 1u);
  EXPECT_EQ(Stats().connections_lost, 0u);
  int known = 0;
  for (int i = 0; i < 3; ++i) known += CountOf(StrCat("probes as component-", i, " Bearer t", i));
  EXPECT_EQ(known, CountOf("GET /livez"));
}

TEST_F(HttpTransportKeepaliveTest, HalfAProbeAnswerDoesNotEndProbing) {
  StartServer([this](std::shared_ptr<ServerStream> stream) {
    const bool probe = stream->request().target == "/livez";
    stream->Open();
    if (!probe) stream->Send("x");
    Keep(std::move(stream));
  });
  StartTransport(kQuickProbes);
  std::vector<Watch> watches = OpenMany(1);
  ASSERT_TRUE(AllOpen(watches));
  // Each gets only the head of an answer, which shows that the server works.
  ASSERT_TRUE(Eventually([this] { return Stats().probes >= 3; }));
  EXPECT_FALSE(watches[0].sink->closed().has_value());
  server_->SetStalled(true);
  EXPECT_EQ(EndOf(watches[0]).code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(Stats().connections_lost, 1u);
}

TEST_F(HttpTransportKeepaliveTest, ACallOnADeadConnectionEndsToo) {
  Start(kQuickProbes);
  const auto call = StartCall(Request("/hold"));
  ASSERT_TRUE(Eventually([this] { return CountOf("GET /hold") == 1; }));
  server_->SetStalled(true);
  EXPECT_EQ(Await(call).status().code(), absl::StatusCode::kUnavailable);
}

TEST_F(HttpTransportKeepaliveTest, AnAnsweredProbeKeepsASlowCall) {
  Start(kQuickProbes);
  const auto call = StartCall(Request("/hold"));
  ASSERT_TRUE(Eventually([this] { return Stats().probes >= 3; }));
  EXPECT_FALSE(call->done.IsSet());
  TakeKept().at(0)->Respond(200, "late");
  EXPECT_EQ(Await(call)->body, "late");
}

TEST_F(HttpTransportKeepaliveTest, IdleConnectionsAreNotProbed) {
  Start(kQuickProbes);
  ASSERT_TRUE(Call(Request("/")).ok());
  const uint64_t probes = Stats().probes;
  WaitFor(absl::Milliseconds(400));
  EXPECT_EQ(Stats().probes, probes);
  EXPECT_EQ(Stats().connections, 1u);
}

TEST_F(HttpTransportKeepaliveTest, Http1IsNotProbed) {
  Start(kQuickProbes, {.http2 = false});
  std::vector<Watch> watches = OpenMany(2);
  ASSERT_TRUE(AllOpen(watches));
  WaitFor(absl::Milliseconds(600));
  for (const Watch& watch : watches) EXPECT_FALSE(watch.sink->closed().has_value());
  EXPECT_EQ(Stats().probes, 0u);
}

}  // namespace
}  // namespace mandate
