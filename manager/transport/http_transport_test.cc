// Calls: answers, bounds, deadlines, cancellation, TLS.
#include "manager/transport/http_transport.h"

#include <stdlib.h>

#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "manager/core/strings.h"
#include "manager/transport/testing/h2_server.h"
#include "manager/transport/testing/transport_fixture.h"

namespace mandate {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

using HttpTransportTest = TransportFixture;

TEST_F(HttpTransportTest, CallsOverHttp2) {
  StartServer([](std::shared_ptr<ServerStream> stream) {
    const ServerRequest& request = stream->request();
    stream->Respond(
        request.target == "/here?a=%20" ? 200 : 404,
        StrCat(request.method, " ", request.Header("authorization"), " ",
               request.Header("user-agent"), " ", request.Header("accept"), " ",
               request.Header("impersonate-user"), " ", request.Header("content-type")));
  });
  StartTransport();
  HttpRequest request = Request("/here?a=%20", "abc");
  request.headers.emplace_back("Impersonate-User", "u");
  const auto found = Call(std::move(request));
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(found->code, 200);
  EXPECT_EQ(found->content_type, "application/json");
  EXPECT_EQ(found->body, "GET Bearer abc test application/json u ");
  const auto missing = Call(Request("/nowhere"));
  ASSERT_TRUE(missing.ok()) << missing.status();
  EXPECT_EQ(missing->code, 404);
  EXPECT_EQ(server_->stats().accepted, 1u);
}

TEST_F(HttpTransportTest, SendsEveryMethodAndBody) {
  StartServer([](std::shared_ptr<ServerStream> stream) {
    const ServerRequest& request = stream->request();
    stream->Respond(200, StrCat(request.method, "|", request.Header("content-type"), "|",
                                request.Header("content-length"), "|", request.body));
  });
  StartTransport();
  struct Row {
    const char *method, *body, *answer;
  };
  const Row rows[] = {
      {"GET", "", "GET|||"},
      {"DELETE", "", "DELETE|||"},
      {"DELETE", "{}", "DELETE|application/json|2|{}"},
      {"POST", "{}", "POST|application/json|2|{}"},
      {"POST", "", "POST||0|"},
      {"PUT", "{\"a\":1}", "PUT|application/json|7|{\"a\":1}"},
      {"PATCH", "[]", "PATCH|application/json|2|[]"},
  };
  for (const Row& row : rows) {
    HttpRequest request = Request("/", "t", row.method);
    request.body = row.body;
    if (!request.body.empty()) request.content_type = "application/json";
    const auto answer = Call(std::move(request));
    ASSERT_TRUE(answer.ok()) << row.method << answer.status();
    EXPECT_EQ(answer->body, row.answer);
  }
}

TEST_F(HttpTransportTest, HeadHasNoBodyWhateverItsLength) {
  StartServer([](std::shared_ptr<ServerStream> stream) {
    stream->Open(200, {{"content-length", "5"}});
    stream->End();
  });
  StartTransport();
  const auto answer = Call(Request("/", "t", "HEAD"));
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->code, 200);
}

TEST_F(HttpTransportTest, ReadsTheHead) {
  StartServer([](std::shared_ptr<ServerStream> stream) {
    stream->Respond(429, "{}",
                    {{"content-type", "application/vnd.kubernetes.protobuf"},
                     {"retry-after", "3"},
                     {"warning", "299 - \"one\""},
                     {"warning", "299 - \"two\""}});
  });
  StartTransport();
  const auto answer = Call(Request("/"));
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->code, 429);
  EXPECT_EQ(answer->content_type, "application/vnd.kubernetes.protobuf");
  EXPECT_EQ(answer->retry_after, absl::Seconds(3));
  EXPECT_THAT(answer->warnings, ElementsAre("one", "two"));
}

TEST_F(HttpTransportTest, CarriesLargeBodiesBothWays) {
  StartServer(
      [](std::shared_ptr<ServerStream> stream) { stream->Respond(200, stream->request().body); });
  StartTransport();
  HttpRequest request = Request("/", "t", "POST");
  request.content_type = "application/json";
  for (int i = 0; i < 1 << 20; ++i) request.body += std::to_string(i);
  const std::string body = request.body;
  ASSERT_GT(body.size(), size_t{5} << 20);
  const auto answer = Call(std::move(request), Within(absl::Seconds(60)));
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_TRUE(answer->body == body);
}

TEST_F(HttpTransportTest, BoundsTheBody) {
  StartServer([](std::shared_ptr<ServerStream> stream) {
    stream->Respond(200, std::string(stream->request().target == "/fits" ? 1000 : 1001, 'x'));
  });
  StartTransport({.max_response_bytes = 1000});
  EXPECT_TRUE(Call(Request("/fits")).ok());
  const auto answer = Call(Request("/larger"));
  EXPECT_EQ(answer.status().code(), absl::StatusCode::kResourceExhausted) << answer.status();
  EXPECT_THAT(std::string(answer.status().message()), HasSubstr("larger than 1000 bytes"));
  EXPECT_EQ(Stats().limited_too_large, 1u);
  EXPECT_TRUE(Call(Request("/fits")).ok());
}

TEST_F(HttpTransportTest, BoundsTheHead) {
  StartServer([](std::shared_ptr<ServerStream> stream) {
    stream->Respond(200, "", {{"x", std::string(3000, 'x')}});
  });
  StartTransport({.max_header_bytes = 2048});
  const auto answer = Call(Request("/"));
  EXPECT_EQ(answer.status().code(), absl::StatusCode::kResourceExhausted) << answer.status();
  EXPECT_EQ(Stats().limited_too_large, 1u);
}

TEST_F(HttpTransportTest, RejectsInvalidRequestsInALaterTask) {
  Start();
  HttpRequest request = Request("/");
  request.headers.emplace_back("Authorization", "Bearer other");
  EXPECT_EQ(Call(std::move(request)).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(server_->stats().accepted, 0u);
}

TEST_F(HttpTransportTest, RejectsInvalidOptions) {
  EXPECT_FALSE(HttpTransport::Create(*loop_, {.streams_per_connection = 1}).ok());
  EXPECT_FALSE(HttpTransport::Create(*loop_, {.max_call_connections = 0}).ok());
  EXPECT_FALSE(HttpTransport::Create(*loop_, {.max_stream_connections = 0}).ok());
  EXPECT_FALSE(HttpTransport::Create(*loop_, {.component_share_factor = 0}).ok());
  EXPECT_FALSE(HttpTransport::Create(*loop_, {.probe_timeout = absl::ZeroDuration()}).ok());
}

TEST_F(HttpTransportTest, FollowsNoRedirects) {
  StartServer([](std::shared_ptr<ServerStream> stream) {
    stream->Respond(302, "", {{"location", "https://127.0.0.1:1/"}});
  });
  StartTransport();
  // libcurl would follow it, and send the token to another server.
  setenv("https_proxy", "http://127.0.0.1:1", /*overwrite=*/1);
  setenv("ALL_PROXY", "http://127.0.0.1:1", /*overwrite=*/1);
  const auto answer = Call(Request("/"));
  unsetenv("https_proxy");
  unsetenv("ALL_PROXY");
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->code, 302);
  EXPECT_EQ(server_->stats().requests, 1u);
}

TEST_F(HttpTransportTest, ReportsARefusedConnection) {
  Start();
  server_.reset();
  const auto answer = Call(Request("/"));
  EXPECT_EQ(answer.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(answer.status().message()),
              AllOf(HasSubstr(endpoint_->server), HasSubstr("the API server is running")));
}

TEST_F(HttpTransportTest, OneRefusedConnectionAnswersAllThatWaitForIt) {
  Start();
  server_->SetAccepting(H2Server::Accepting::kClose);
  const auto calls = StartCalls(std::vector(50, Request("/")));
  for (const auto& call : calls) {
    EXPECT_EQ(Await(call).status().code(), absl::StatusCode::kUnavailable);
  }
  EXPECT_EQ(server_->stats().accepted, 1u);
  server_->SetAccepting(H2Server::Accepting::kServe);
  EXPECT_TRUE(Call(Request("/")).ok());
}

TEST_F(HttpTransportTest, ChecksTheServersCertificate) {
  Start();
  ASSERT_TRUE(Call(Request("/")).ok());

  // This includes a CA of the same name, as most clusters' CAs have.
  for (const char* name : {"other CA", "test CA"}) {
    ChangeEndpoint([&](Endpoint& endpoint) { endpoint.ca_pem = TestCa(name).certificate_pem(); });
    const auto answer = Call(Request("/", "the.token"));
    EXPECT_EQ(answer.status().code(), absl::StatusCode::kUnavailable);
    EXPECT_THAT(std::string(answer.status().message()),
                AllOf(HasSubstr("check that the configured CA is this server's"),
                      Not(HasSubstr("the.token"))));
  }

  ChangeEndpoint([](Endpoint& endpoint) { endpoint.ca_pem = "no certificate"; });
  EXPECT_FALSE(Call(Request("/")).ok());
  EXPECT_EQ(server_->stats().requests, 1u);
}

TEST_F(HttpTransportTest, ChecksTheServersName) {
  StartServer(
      [](std::shared_ptr<ServerStream> stream) {
        stream->Respond(200, std::string(stream->request().Header(":authority")));
      },
      {.names = {"DNS:kubernetes.default"}});
  StartTransport();
  const auto answer = Call(Request("/"));
  EXPECT_EQ(answer.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(answer.status().message()), HasSubstr("tls-server-name"));

  ChangeEndpoint([&](Endpoint& endpoint) { endpoint.tls_server_name = "kubernetes.default"; });
  const auto ok = Call(Request("/"));
  ASSERT_TRUE(ok.ok()) << ok.status();
  EXPECT_EQ("https://" + ok->body, endpoint_->server);
}

// A deadline or a stop ends a call at every stage.
enum class Stage { kBefore, kHandshake, kQueue, kHead, kBody };

class HttpTransportStageTest : public HttpTransportTest,
                               public ::testing::WithParamInterface<Stage> {
 protected:
  // Brings a call to the stage.
  std::shared_ptr<AsyncCall> Reach(const CallContext& context) {
    Start({.streams_per_connection = 2, .max_call_connections = 1});
    if (GetParam() == Stage::kHandshake) server_->SetAccepting(H2Server::Accepting::kIgnore);
    if (GetParam() == Stage::kQueue) {
      first_ = StartCall(Request("/hold/first"));
      EXPECT_TRUE(Eventually([this] { return CountOf("GET /hold/first") == 1; }));
    }
    const std::string target = GetParam() == Stage::kBody ? "/half" : "/hold";
    auto call = StartCall(Request(target), context);
    if (GetParam() == Stage::kHandshake) {
      EXPECT_TRUE(Eventually([this] { return server_->stats().accepted == 1; }));
    } else if (GetParam() == Stage::kHead || GetParam() == Stage::kBody) {
      // On a slow machine the deadline may come before the server gets the request.
      EXPECT_TRUE(Eventually([&] { return CountOf("GET " + target) == 1 || call->done.IsSet(); }));
    }
    return call;
  }

  std::shared_ptr<AsyncCall> first_;
};

TEST_P(HttpTransportStageTest, AStopEndsTheCallOnce) {
  std::stop_source source;
  if (GetParam() == Stage::kBefore) source.request_stop();
  CallContext context;
  context.stop = source.get_token();
  const auto call = Reach(context);
  source.request_stop();
  EXPECT_EQ(Await(call).status().code(), absl::StatusCode::kCancelled) << call->result.status();
  // The server learns of it, and the rest of its answer is dropped.
  EXPECT_TRUE(Eventually(
      [this] { return Stats().waiting == 0 && Stats().active == (first_ == nullptr ? 0 : 1); }));
  EXPECT_EQ(call->times_done, 1);
  if (GetParam() == Stage::kHead || GetParam() == Stage::kBody) {
    const std::shared_ptr<ServerStream> stream = TakeKept().at(0);
    EXPECT_TRUE(Eventually([&] { return stream->closed(); }));
  }
}

TEST_P(HttpTransportStageTest, TheDeadlineEndsTheCallOnce) {
  const CallContext context =
      Within(GetParam() == Stage::kBefore ? -absl::Seconds(1) : absl::Milliseconds(300));
  const auto call = Reach(context);
  EXPECT_EQ(Await(call).status().code(), absl::StatusCode::kDeadlineExceeded)
      << call->result.status();
  EXPECT_GE(loop_->clock().TimeNow(), context.deadline);
  EXPECT_TRUE(Eventually(
      [this] { return Stats().waiting == 0 && Stats().active == (first_ == nullptr ? 0 : 1); }));
  EXPECT_EQ(call->times_done, 1);
}

std::string StageName(const ::testing::TestParamInfo<Stage>& test) {
  constexpr const char* kNames[] = {"Before", "Handshake", "Queue", "Head", "Body"};
  return kNames[static_cast<int>(test.param)];
}

INSTANTIATE_TEST_SUITE_P(Stages, HttpTransportStageTest,
                         ::testing::Values(Stage::kBefore, Stage::kHandshake, Stage::kQueue,
                                           Stage::kHead, Stage::kBody),
                         StageName);

TEST_F(HttpTransportTest, ACallHasALimitOfItsOwn) {
  Start({.max_call_duration = absl::Milliseconds(100)});
  const auto answer = Call(Request("/hold"));
  EXPECT_EQ(answer.status().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(std::string(answer.status().message()), HasSubstr("(max_call_duration)"));
}

TEST_F(HttpTransportTest, LabelsTheLoopWithTheComponent) {
  Start();
  std::string label;
  Latch done;
  OnLoop([&] {
    transport_->Call({}, Request("/"), [&](absl::StatusOr<HttpResponse>) {
      label = loop_->activity().CurrentLabel();
      done.Set();
    });
  });
  loop_->Await(done);
  EXPECT_EQ(label, "test: response");
}

TEST_F(HttpTransportTest, BoundsHowManyWait) {
  Start({.streams_per_connection = 2, .max_call_connections = 1, .max_queued_requests = 2});
  const auto first = StartCall(Request("/hold1"));
  ASSERT_TRUE(Eventually([this] { return Stats().active == 1; }));
  const auto second = StartCall(Request("/hold2"));
  const auto third = StartCall(Request("/hold3"));
  const auto fourth = Call(Request("/hold4"));
  EXPECT_EQ(fourth.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(Stats().limited_waiting, 1u);
  EXPECT_GE(Stats().limited_connection, 1u);
  // The others are served in turn.
  for (const auto& call : {first, second, third}) {
    ASSERT_TRUE(Eventually([&] {
      for (const auto& stream : TakeKept()) stream->Respond(200, "");
      return call->done.IsSet();
    }));
    EXPECT_TRUE(call->result.ok()) << call->result.status();
  }
  EXPECT_EQ(Stats().sockets_opened, 1u);
}

}  // namespace
}  // namespace mandate
