// Servers that say nothing, at every stage of a connection, and connections whose other end is
// gone.
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

// A port where connections are asked for in vain: nothing is refused, and nothing comes back.
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
  // Otherwise this process (in a sandbox) may not do that.
  bool lost() const { return lost_; }

 private:
  const int fd_;
  uint16_t port_ = 0;
  bool lost_ = false;
};

class HttpTransportSilenceTest : public TransportFixture {
 protected:
  // /watch and /half stay open, after "x"; /hold is not answered; everything else is.
  void Start(HttpOptions options, H2Server::Options server = {}) {
    StartServer(
        [this](std::shared_ptr<ServerStream> stream) {
          const std::string& target = stream->request().target;
          CountUp(target);
          if (target == "/watch" || target == "/half") {
            HttpHeaders headers = ServerStream::JsonHeaders();
            if (target == "/half") headers.emplace_back("content-length", "1000");
            stream->Open(200, std::move(headers));
            stream->Send("x");
          } else if (target != "/hold") {
            return stream->Respond(200, std::to_string(stream->request().connection));
          }
          Keep(std::move(stream));
        },
        std::move(server));
    StartTransport(options);
  }

  Watch OpenOne() {
    Watch watch = Open(Request("/watch"));
    EXPECT_TRUE(Eventually([&] { return watch.sink->data() == "x"; }));
    return watch;
  }

  // A call and a watch both end with kUnavailable.
  std::string BothFail() {
    Watch watch = Open(Request("/watch"));
    const auto answer = Call(Request("/"));
    EXPECT_EQ(answer.status().code(), absl::StatusCode::kUnavailable) << answer.status();
    EXPECT_TRUE(Eventually([&] { return watch.sink->closed().has_value(); }));
    EXPECT_EQ(watch.sink->closed()->code(), absl::StatusCode::kUnavailable);
    Close(watch);
    return std::string(answer.status().message());
  }

  void BothWork() {
    EXPECT_TRUE(Call(Request("/")).ok());
    Watch watch = OpenOne();
    Close(watch);
  }
};

TEST_F(HttpTransportSilenceTest, NothingAnswersAtTheAddress) {
  const LostPort lost;
  if (!lost.lost()) GTEST_SKIP() << "the kernel forbids it";
  Start({.connect_timeout = kShort});
  const auto here = endpoint_;
  Endpoint endpoint = *endpoint_;
  endpoint.server = lost.url();
  endpoint_ = std::make_shared<const Endpoint>(endpoint);
  EXPECT_THAT(BothFail(), AllOf(HasSubstr(lost.url()), HasSubstr("reachable from here")));
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
  // Not even SETTINGS. Of calls and watches only the probe finds it out, in good time.
  Start({.time_to_headers = kLong, .silence_limit = kShort, .probe_timeout = kShort});
  server_->SetAccepting(H2Server::Accepting::kMute);
  EXPECT_THAT(BothFail(), HasSubstr("not even an answer to a probe"));
  EXPECT_EQ(Stats().connections_lost, 2u);
  server_->SetAccepting(H2Server::Accepting::kServe);
  BothWork();
}

TEST_F(HttpTransportSilenceTest, TheBodyStalls) {
  Start({.silence_limit = kShort, .probe_timeout = kShort});
  Watch watch = OpenOne();
  const auto call = StartCall(Request("/half"));
  ASSERT_TRUE(Eventually([this] { return CountOf("/half") == 1; }));
  server_->SetStalled(true);
  loop_->Await(call->done);
  EXPECT_EQ(call->result.status().code(), absl::StatusCode::kUnavailable) << call->result.status();
  EXPECT_TRUE(Eventually([&] { return watch.sink->closed().has_value(); }));
  BothWork();
  Close(watch);
}

// Nothing is closed, and nothing goes through any more: the deadline of a call tells, long before
// silence would.
TEST_F(HttpTransportSilenceTest, ACallThatRunsOutOfTimeHasTheWatchesProbed) {
  Start({.silence_limit = kLong, .probe_timeout = kShort, .patience = absl::Milliseconds(100)});
  Watch watch = OpenOne();
  ASSERT_TRUE(Call(Request("/")).ok());
  server_->SetStalled(true);
  EXPECT_EQ(Call(Request("/"), Within(absl::Milliseconds(300))).status().code(),
            absl::StatusCode::kDeadlineExceeded);
  EXPECT_TRUE(Call(Request("/")).ok());
  ASSERT_TRUE(Eventually([&] { return watch.sink->closed().has_value(); }));
  EXPECT_THAT(std::string(watch.sink->closed()->message()), HasSubstr("not even an answer"));
  BothWork();
  EXPECT_EQ(Stats().connections_doubted, 1u);
  EXPECT_EQ(Stats().connections_lost, 1u);
  Close(watch);
}

TEST_F(HttpTransportSilenceTest, OneBodyStallsAndTheOthersGoOn) {
  Start({.silence_limit = kShort, .probe_timeout = kShort});
  const auto call = StartCall(Request("/half"), Within(absl::Seconds(1)));
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(Call(Request("/")).ok());
  loop_->Await(call->done);
  // The connection is alive: only the call's own deadline ends it.
  EXPECT_EQ(call->result.status().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(Stats().connections_lost, 0u);
  EXPECT_EQ(server_->stats().accepted, 1u);
}

TEST_F(HttpTransportSilenceTest, TheOtherEndIsGoneAndTheProbeFindsIt) {
  Start({.silence_limit = kShort, .probe_timeout = kShort, .tcp_user_timeout = kLong});
  Watch watch = OpenOne();
  if (!server_->BlackHole()) GTEST_SKIP() << "the kernel forbids it";
  ASSERT_TRUE(Eventually([&] { return watch.sink->closed().has_value(); }));
  EXPECT_EQ(watch.sink->closed()->code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(Stats().connections_lost, 1u);
  BothWork();
  Close(watch);
}

TEST_F(HttpTransportSilenceTest, TheOtherEndIsGoneAndTheKernelFindsIt) {
  Start({.silence_limit = kLong, .probe_timeout = kLong, .tcp_user_timeout = kShort});
  Watch watch = OpenOne();
  if (!server_->BlackHole()) GTEST_SKIP() << "the kernel forbids it";
  // Something has to be under way that is not acknowledged; not a byte came of it, so that it is
  // asked for again.
  Watch next = Open(Request("/watch"));
  ASSERT_TRUE(Eventually([&] { return watch.sink->closed().has_value(); }));
  EXPECT_EQ(watch.sink->closed()->code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(watch.sink->closed()->message()), Not(HasSubstr("no connection")));
  EXPECT_TRUE(Eventually([&] { return next.sink->data() == "x"; }));
  EXPECT_EQ(server_->stats().accepted, 2u);
  EXPECT_EQ(Stats().connections_lost, 0u);
  BothWork();
  Close(watch);
  Close(next);
}

TEST_F(HttpTransportSilenceTest, AnIdleConnectionWhoseOtherEndIsGone) {
  Start({.silence_limit = kShort, .probe_timeout = kShort});
  EXPECT_TRUE(Call(Request("/")).ok());
  if (!server_->BlackHole()) GTEST_SKIP() << "the kernel forbids it";
  // Whether it arrived nobody knows.
  const auto post = Call(Request("/", "t", "POST"));
  EXPECT_EQ(post.status().code(), absl::StatusCode::kUnavailable) << post.status();
  EXPECT_TRUE(Call(Request("/")).ok());
}

TEST_F(HttpTransportSilenceTest, ACallOverHttp1EndsByItsDeadline) {
  Start({.max_call_duration = absl::Milliseconds(500),
         .silence_limit = absl::Milliseconds(50),
         .patience = absl::Milliseconds(50)},
        {.http2 = false});
  const auto call = StartCall(Request("/hold"));
  EXPECT_TRUE(Call(Request("/")).ok());
  loop_->Await(call->done);
  EXPECT_EQ(call->result.status().code(), absl::StatusCode::kDeadlineExceeded);
}

}  // namespace
}  // namespace mandate
