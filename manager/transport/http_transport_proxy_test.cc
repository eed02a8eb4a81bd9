// Connections through a proxy.
#include <stdlib.h>

#include <memory>
#include <string>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "manager/transport/http_transport.h"
#include "manager/transport/testing/connect_proxy.h"
#include "manager/transport/testing/h2_server.h"
#include "manager/transport/testing/transport_fixture.h"

namespace mandate {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class HttpTransportProxyTest : public TransportFixture {
 protected:
  void Start(H2Server::Options options = {}, HttpOptions transport = {}) {
    StartServer(
        [this](std::shared_ptr<ServerStream> stream) {
          if (stream->request().target == "/watch") return Serve(std::move(stream));
          stream->Respond(200, std::string(stream->request().Header("authorization")));
        },
        std::move(options));
    StartTransport(transport);
    ChangeEndpoint([&](Endpoint& endpoint) { endpoint.proxy = proxy_->url(); });
  }

  void TearDown() override {
    TransportFixture::TearDown();
    proxy_.reset();
  }

  std::string Failure() {
    const auto answer = Call(Request("/", "the.token"), Within(absl::Seconds(20)));
    EXPECT_EQ(answer.status().code(), absl::StatusCode::kUnavailable) << answer.status();
    EXPECT_THAT(std::string(answer.status().message()),
                AllOf(HasSubstr(server_->url()), HasSubstr("through http://127.0.0.1:"),
                      Not(HasSubstr("the.token"))));
    return std::string(answer.status().message());
  }

  std::unique_ptr<ConnectProxy> proxy_ = std::make_unique<ConnectProxy>();
};

TEST_F(HttpTransportProxyTest, CallsAndWatchesPassThrough) {
  Start();
  for (int i = 0; i < 3; ++i) {
    const auto answer = Call(Request("/", "the.token"));
    ASSERT_TRUE(answer.ok()) << answer.status();
    EXPECT_EQ(answer->body, "Bearer the.token");
  }
  Watch watch = Open(Request("/watch"));
  EXPECT_TRUE(Has(watch, "2"));
  // There is one tunnel for calls and one for watches.
  EXPECT_EQ(proxy_->heads().size(), 2u);
  EXPECT_EQ(server_->stats().accepted, 2u);
}

TEST_F(HttpTransportProxyTest, TheProxyLearnsTheServersAddressAndNothingElse) {
  Start();
  HttpRequest request = Request("/api/v1/secrets", "the.token");
  request.headers.emplace_back("Impersonate-User", "somebody");
  ASSERT_TRUE(Call(std::move(request)).ok());
  const std::string head = proxy_->heads().at(0);
  EXPECT_THAT(head, StartsWith("CONNECT 127.0.0.1:" + std::to_string(server_->port()) + " "));
  for (const char* ours : {"the.token", "Authorization", "Impersonate", "somebody", "secrets"}) {
    EXPECT_THAT(head, Not(HasSubstr(ours)));
    EXPECT_THAT(proxy_->passed(), Not(HasSubstr(ours)));
  }
}

TEST_F(HttpTransportProxyTest, VerifiesTheServerThroughTheProxy) {
  Start({.names = {"DNS:elsewhere"}});
  EXPECT_THAT(Failure(), HasSubstr("tls-server-name"));
  ChangeEndpoint([&](Endpoint& endpoint) { endpoint.tls_server_name = "elsewhere"; });
  EXPECT_TRUE(Call(Request("/")).ok());
  ChangeEndpoint(
      [](Endpoint& endpoint) { endpoint.ca_pem = TestCa("another CA").certificate_pem(); });
  EXPECT_THAT(Failure(), HasSubstr("CA"));
}

TEST_F(HttpTransportProxyTest, Http1PassesToo) {
  Start({.http2 = false});
  const auto answer = Call(Request("/"));
  ASSERT_TRUE(answer.ok()) << answer.status();
}

TEST_F(HttpTransportProxyTest, ReportsTheProxysRefusal) {
  Start();
  for (const char* answer :
       {"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n",
        "HTTP/1.1 407 Proxy authentication required\r\n\r\n", "HTTP/1.1 502 Bad gateway\r\n\r\n"}) {
    proxy_->AnswerWith(answer);
    EXPECT_THAT(Failure(), AllOf(HasSubstr(std::string(answer).substr(9, 3)),
                                 HasSubstr("check that the proxy allows connections")));
  }
  EXPECT_EQ(server_->stats().accepted, 0u);
}

TEST_F(HttpTransportProxyTest, ReportsAServerThatIsNotAProxy) {
  Start();
  for (const char* answer : {"SSH-2.0-OpenSSH\r\n\r\n", "\r\n"}) {
    proxy_->AnswerWith(answer);
    Failure();
  }
}

TEST_F(HttpTransportProxyTest, AProxyThatNeverAnswersTimesOut) {
  Start({}, {.connect_timeout = absl::Milliseconds(200)});
  proxy_->AnswerWith("");
  EXPECT_THAT(Failure(), HasSubstr("no connection"));
}

TEST_F(HttpTransportProxyTest, ReportsAMissingProxy) {
  Start();
  proxy_.reset();
  EXPECT_THAT(Failure(), HasSubstr("no connection"));
}

TEST_F(HttpTransportProxyTest, IgnoresNoProxyInTheEnvironment) {
  Start();
  for (const char* name : {"no_proxy", "NO_PROXY"}) setenv(name, "*", /*overwrite=*/1);
  const auto answer = Call(Request("/"));
  for (const char* name : {"no_proxy", "NO_PROXY"}) unsetenv(name);
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(proxy_->heads().size(), 1u);
}

}  // namespace
}  // namespace mandate
