#include "testing/apiserver/access/curl_webhook_caller.h"

#include <memory>
#include <optional>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "manager/core/event_loop.h"
#include "manager/transport/testing/h2_server.h"
#include "manager/transport/testing/test_pki.h"

namespace mandate::apiserver {
namespace {

using ::testing::HasSubstr;

class CurlWebhookCallerTest : public ::testing::Test {
 protected:
  // Waits for the answer, which must come on the loop.
  absl::StatusOr<WebhookReply> Call(std::string url, std::string ca_pem) {
    Latch answered;
    absl::StatusOr<WebhookReply> result;
    caller_({.url = std::move(url),
             .ca_pem = std::move(ca_pem),
             .body = R"({"k":"v"})",
             .timeout = absl::Seconds(20)},
            [&](absl::StatusOr<WebhookReply> reply) {
              EXPECT_TRUE(loop_->IsCurrent());
              result = std::move(reply);
              answered.Set();
            });
    answered.Wait();
    return result;
  }

  TestCa ca_;
  Latch asked_;
  std::unique_ptr<H2Server> server_ =
      *H2Server::Create({.ca = &ca_}, [this](const std::shared_ptr<ServerStream>& stream) {
        if (stream->request().target == "/silent") {
          asked_.Set();
          return;
        }
        stream->Respond(418, stream->request().method + " " + stream->request().target + " " +
                                 stream->request().body);
      });
  std::unique_ptr<EventLoop> loop_ = *EventLoop::Create();
  WebhookCaller caller_ = CurlWebhookCaller(*loop_);
};

TEST_F(CurlWebhookCallerTest, PostsJsonAndAnswersOnTheLoop) {
  const auto reply = Call(server_->url() + "/hook?timeout=10s", ca_.certificate_pem());
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_EQ(reply->code, 418);
  EXPECT_EQ(reply->body, R"(POST /hook?timeout=10s {"k":"v"})");
}

TEST_F(CurlWebhookCallerTest, TrustsTheGivenAuthorityAlone) {
  const TestCa another("another");
  EXPECT_THAT(
      std::string(Call(server_->url() + "/hook", another.certificate_pem()).status().message()),
      HasSubstr("certificate"));
}

TEST_F(CurlWebhookCallerTest, SaysWhenNobodyIsThere) {
  EXPECT_THAT(std::string(Call("https://127.0.0.1:1/", ca_.certificate_pem()).status().message()),
              HasSubstr("connect"));
}

TEST_F(CurlWebhookCallerTest, ACallThatIsUnderWayIsGivenUpWithTheCaller) {
  Latch dropped;
  caller_({.url = server_->url() + "/silent",
           .ca_pem = ca_.certificate_pem(),
           .body = "{}",
           .timeout = absl::Minutes(10)},
          [&](const absl::StatusOr<WebhookReply>& reply) {
            EXPECT_FALSE(reply.ok());
            dropped.Set();
          });
  asked_.Wait();
  caller_ = nullptr;  // joins its threads
  dropped.Wait();
}

}  // namespace
}  // namespace mandate::apiserver
