// The failures that are marked as certainly not served, with a real server.
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "manager/core/not_sent.h"
#include "manager/core/testing/log_capture.h"
#include "manager/transport/http_transport.h"
#include "manager/transport/testing/h2_server.h"
#include "manager/transport/testing/transport_fixture.h"

namespace mandate {
namespace {

class HttpTransportNotSentTest : public TransportFixture {
 protected:
  // A target names the server's behaviour. The first request for /then-… gets its first half.
  void Start(HttpOptions options = {}) {
    StartServer([this](std::shared_ptr<ServerStream> stream) {
      const std::string target = stream->request().target;
      const int times = CountUp(target);
      if (target == "/refuse" || (target == "/close-then-refuse" && times > 1)) {
        stream->Reset(kRefusedStream);
      } else if (target == "/close" || target == "/close-then-refuse") {
        server_->CloseConnections();
      } else if (target == "/reset") {
        stream->Reset(kInternalError);
      } else {
        Serve(std::move(stream));
        if (target == "/half") server_->CloseConnections();
      }
    });
    StartTransport(options);
  }

  absl::Status Ask(std::string target, const char* method = "POST", CallContext context = {}) {
    return Call(Request(std::move(target), "t", method), context).status();
  }

  // As Ask("/hold"), which the server has got when this returns.
  std::shared_ptr<AsyncCall> Hold(CallContext context = {}) {
    auto call = StartCall(Request("/hold", "t", "POST"), context);
    EXPECT_TRUE(Eventually([this] { return CountOf("POST /hold") == 1; }));
    return call;
  }

  void Distrust() {
    ChangeEndpoint(
        [&](Endpoint& endpoint) { endpoint.ca_pem = TestCa("another CA").certificate_pem(); });
  }
};

TEST_F(HttpTransportNotSentTest, MarksErrorsByTheirCause) {
  Start();
  ASSERT_TRUE(Ask("/").ok());
  struct Row {
    const char* name;
    std::function<absl::Status()> fail;
    bool not_sent;
  };
  const std::vector<Row> rows = {
      {"refused by the server, again and again", [this] { return Ask("/refuse"); }, true},
      {"reset with another code", [this] { return Ask("/reset"); }, false},
      {"closed under the request", [this] { return Ask("/close"); }, false},
      {"closed in the answer", [this] { return Ask("/half"); }, false},
      {"a read: closed, sent again, then refused",
       [this] { return Ask("/close-then-refuse", "GET"); }, false},
      {"a write: closed", [this] { return Ask("/close-then-refuse"); }, true},
      {"past its deadline before it is asked",
       [this] { return Ask("/", "POST", Within(-absl::Seconds(1))); }, true},
      {"not a valid request", [this] { return Ask("no path"); }, true},
  };
  for (const Row& row : rows) {
    const absl::Status status = row.fail();
    EXPECT_FALSE(status.ok()) << row.name;
    EXPECT_EQ(WasNotSent(status), row.not_sent) << row.name << ": " << status;
  }
}

TEST_F(HttpTransportNotSentTest, NoConnection) {
  struct Row {
    const char* name;
    std::function<void()> arrange;
  };
  Start({.connect_timeout = absl::Milliseconds(200)});
  const std::vector<Row> rows = {
      {"closed at once", [this] { server_->SetAccepting(H2Server::Accepting::kClose); }},
      {"no handshake", [this] { server_->SetAccepting(H2Server::Accepting::kIgnore); }},
      {"not trusted",
       [this] {
         server_->SetAccepting(H2Server::Accepting::kServe);
         Distrust();
       }},
      {"nobody listens", [this] { server_.reset(); }},
  };
  for (const Row& row : rows) {
    row.arrange();
    const absl::Status status = Ask("/");
    EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable) << row.name << ": " << status;
    EXPECT_TRUE(WasNotSent(status)) << row.name << ": " << status;
  }
  EXPECT_EQ(CountOf("/"), 0);
}

TEST_F(HttpTransportNotSentTest, ExcludedByGoAwayThenNoConnection) {
  Start();
  ASSERT_TRUE(Ask("/").ok());
  const auto call = Hold();
  server_->SetAccepting(H2Server::Accepting::kClose);
  server_->GoAway({.last = 1});
  EXPECT_FALSE(Await(call).ok());
  EXPECT_TRUE(WasNotSent(call->result.status())) << call->result.status();
}

TEST_F(HttpTransportNotSentTest, GivenUp) {
  Start();
  ASSERT_TRUE(Ask("/").ok());
  std::stop_source stop;
  const auto served = Hold({.stop = stop.get_token()});
  stop.request_stop();
  EXPECT_EQ(Await(served).status().code(), absl::StatusCode::kCancelled);
  EXPECT_FALSE(WasNotSent(served->result.status()));
  server_->SetAccepting(H2Server::Accepting::kIgnore);
  server_->GoAway();
  const absl::Status connecting = Ask("/", "POST", Within(absl::Milliseconds(20)));
  EXPECT_EQ(connecting.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_TRUE(WasNotSent(connecting)) << connecting;
}

TEST_F(HttpTransportNotSentTest, AnUntestedLibcurlMarksNothing) {
  Start();
  OnLoop([this] { transport_.reset(); });
  auto log = std::make_shared<LogCapture>();
  StartTransport({.connect_timeout = absl::Milliseconds(200),
                  .curl_version = 0x080e01,
                  .log = Logger(log, Clock::Real())});
  EXPECT_EQ(log->lines().size(), 1u);
  EXPECT_EQ(log->Count("version=8.14.1"), 1);
  ASSERT_TRUE(Ask("/").ok());
  const absl::Status refused = Ask("/refuse");
  EXPECT_EQ(refused.code(), absl::StatusCode::kUnavailable) << refused;
  EXPECT_FALSE(WasNotSent(refused));
  EXPECT_EQ(CountOf("/refuse"), 1);
  server_.reset();
  const absl::Status nobody = Ask("/");
  EXPECT_EQ(nobody.code(), absl::StatusCode::kUnavailable) << nobody;
  EXPECT_FALSE(WasNotSent(nobody));
  // libcurl does not do this.
  EXPECT_TRUE(WasNotSent(Ask("no path")));
}

TEST_F(HttpTransportNotSentTest, ATestedLibcurlLogsNothing) {
  Start();
  OnLoop([this] { transport_.reset(); });
  auto log = std::make_shared<LogCapture>();
  StartTransport({.log = Logger(log, Clock::Real())});
  EXPECT_TRUE(log->lines().empty()) << log->lines()[0];
}

}  // namespace
}  // namespace mandate
