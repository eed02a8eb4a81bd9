#include "testing/conformance/http.h"

#include <gtest/gtest.h>

#include "manager/transport/testing/h2_server.h"
#include "manager/transport/testing/test_pki.h"

namespace mandate::conformance {
namespace {

class HttpTest : public testing::TestWithParam<bool> {
 protected:
  void Serve(ServerHandler handler) {
    server_ =
        *H2Server::Create({.ca = &ca_, .client_ca = &ca_, .http2 = GetParam()}, std::move(handler));
    const KeyPair admin = ca_.IssueClient("admin");
    http_ = std::make_unique<HttpClient>(Connection{.server = server_->url(),
                                                    .ca_pem = ca_.certificate_pem(),
                                                    .certificate_pem = admin.certificate_pem,
                                                    .key_pem = admin.key_pem});
  }

  const TestCa ca_;
  std::unique_ptr<H2Server> server_;
  std::unique_ptr<HttpClient> http_;
};

TEST_P(HttpTest, SendsExactlyWhatIsAsked) {
  Serve([](std::shared_ptr<ServerStream> stream) {
    const ServerRequest& r = stream->request();
    const auto show = [&](const char* name) {
      for (const auto& [key, value] : r.headers) {
        if (key == name) return "[" + value + "]";
      }
      return std::string("-");
    };
    stream->Respond(418, r.method + " " + r.target + " " + r.client_common_name + " " +
                             show("accept") + show("content-type") + show("x") + " " + r.body);
  });
  const auto send = [&](Request request) {
    const auto response = http_->Send(request);
    EXPECT_TRUE(response.ok()) << response.status();
    EXPECT_EQ(response->code, 418);
    EXPECT_EQ(response->Header("content-type"), "application/json");
    return response->body;
  };
  EXPECT_EQ(send({.method = "GET", .target = "/a?b=%2F", .headers = {{"Accept", "x/y"}}}),
            "GET /a?b=%2F  [x/y]-- ");
  EXPECT_EQ(send({.method = "POST",
                  .target = "/a",
                  .headers = {{"Accept", "*/*"}, {"Content-Type", "t"}, {"X", "1"}},
                  .body = "{}",
                  .has_body = true,
                  .certificate = true}),
            "POST /a admin [*/*][t][1] {}");
  EXPECT_EQ(send({.method = "DELETE", .target = "/a", .headers = {{"Accept", "*/*"}}}),
            "DELETE /a  [*/*]-- ");
}

TEST_P(HttpTest, ServesAStreamWhileOtherRequestsGo) {
  std::shared_ptr<ServerStream> stream;
  Serve([&](std::shared_ptr<ServerStream> s) {
    if (s->request().target != "/watch") return s->Respond(200, "{}");
    s->Open();
    s->Send("one");
    stream = std::move(s);
  });
  const auto watch = http_->Start({.method = "GET", .target = "/watch", .headers = {}});
  ASSERT_TRUE(http_->Await([&] { return watch->response().body == "one"; }, absl::Seconds(10)));
  EXPECT_TRUE(watch->headed());
  EXPECT_FALSE(watch->ended());
  EXPECT_EQ(http_->Send({.method = "GET", .target = "/", .headers = {}})->body, "{}");
  stream->Send("two");
  stream->End();
  ASSERT_TRUE(http_->Await([&] { return watch->ended(); }, absl::Seconds(10)));
  EXPECT_EQ(watch->response().body, "onetwo");
  EXPECT_TRUE(watch->status().ok());
}

TEST_P(HttpTest, AnAnswerBeforeTheBodyIsReadIsWhole) {
  const std::string status = R"({"kind":"Status","code":405})";
  Serve([](std::shared_ptr<ServerStream> stream) { stream->Respond(200, "late"); });
  // Opens an HTTP/2 connection, which the next requests could reuse.
  EXPECT_EQ(http_->Send({.method = "GET", .target = "/"})->body, "late");
  server_->AnswerEarly({.code = 405, .body = status, .at_once = true});
  for (const size_t record : {16384, 100, 60, 40, 20}) {
    server_->SetRecordSize(record);
    for (const size_t size : {10, 1000, 100'000}) {
      const auto answer = http_->Send({.method = "POST",
                                       .target = "/apis/apps",
                                       .headers = {{"Content-Type", "application/json"}},
                                       .body = std::string(size, 'x'),
                                       .has_body = true});
      ASSERT_TRUE(answer.ok()) << answer.status() << ": " << size << " in records of " << record;
      EXPECT_EQ(answer->code, 405);
      EXPECT_EQ(answer->body, status);
    }
  }
  EXPECT_EQ(server_->stats().early_answers, 15u);
}

TEST_P(HttpTest, WhatHasNoBodyGoesOverHttp2) {
  Serve([](std::shared_ptr<ServerStream> stream) {
    stream->Respond(200, std::to_string(stream->request().connection));
  });
  EXPECT_EQ(http_->Send({.method = "GET", .target = "/"})->body, "1");
  const Request write = {
      .method = "POST", .target = "/", .headers = {}, .body = "{}", .has_body = true};
  EXPECT_EQ(http_->Send(write)->body, "2");
  EXPECT_EQ(http_->Send(write)->body, "2");
  EXPECT_EQ(http_->Send({.method = "GET", .target = "/"})->body, "1");
}

TEST_P(HttpTest, SaysWhenNothingComes) {
  Serve([](std::shared_ptr<ServerStream> stream) { stream->Reset(2); });
  EXPECT_EQ(http_->Send({.method = "GET", .target = "/", .headers = {}}).status().code(),
            absl::StatusCode::kUnavailable);
  EXPECT_FALSE(http_->Await([] { return false; }, absl::Milliseconds(1)));
}

INSTANTIATE_TEST_SUITE_P(, HttpTest, testing::Bool(), [](const auto& param_info) {
  return param_info.param ? "Http2" : "Http1";
});

}  // namespace
}  // namespace mandate::conformance
