// Requests on a connection that gets a GOAWAY, resets or refuses their streams, or is closed, with
// a real server.
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

using ::testing::HasSubstr;

std::string CodeName(const ::testing::TestParamInfo<uint32_t>& test) {
  return "Error" + std::to_string(test.param);
}

class HttpTransportGoAwayTest : public TransportFixture,
                                public ::testing::WithParamInterface<uint32_t> {
 protected:
  // Requests that the server has, in the order of their stream ids: 3, 5, 7…
  std::vector<std::shared_ptr<AsyncCall>> Hold(int count, const char* method) {
    EXPECT_EQ(Ask("/"), "1");
    std::vector<std::shared_ptr<AsyncCall>> calls;
    for (int i = 0; i < count; ++i) {
      calls.push_back(StartCall(Request(StrCat("/hold", i), "t", method)));
      EXPECT_TRUE(Eventually([&] { return CountOf(StrCat(method, " /hold", i)) == 1; }));
    }
    return calls;
  }

  std::string Ask(std::string target, const char* method = "GET") {
    return TransportFixture::Ask(Request(std::move(target), "t", method));
  }

  void AnswerKept() {
    for (const auto& stream : TakeKept()) {
      stream->Respond(200, std::to_string(stream->request().connection));
    }
  }
};

TEST_P(HttpTransportGoAwayTest, AcceptedRequestsCompleteAndNewOnesGoElsewhere) {
  Start();
  const auto calls = Hold(3, "POST");
  server_->GoAway({.error_code = GetParam()});
  EXPECT_EQ(Ask("/new"), "2");
  EXPECT_EQ(Ask("/new", "POST"), "2");
  for (const auto& call : calls) EXPECT_FALSE(call->done.IsSet());
  AnswerKept();
  for (const auto& call : calls) EXPECT_EQ(Await(call)->body, "1");
  EXPECT_TRUE(Eventually([this] { return Stats().connections == 1; }));
  EXPECT_EQ(Stats().connections_drained, 1u);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(CountOf(StrCat("POST /hold", i)), 1);
}

TEST_P(HttpTransportGoAwayTest, ExcludedRequestsAreSentAgain) {
  Start();
  const auto calls = Hold(4, "POST");
  // Stream 1 was the first request, 3 and 5 are kept.
  server_->GoAway({.error_code = GetParam(), .last = 5});
  EXPECT_EQ(Await(calls[2])->body, "2");
  EXPECT_EQ(Await(calls[3])->body, "2");
  EXPECT_FALSE(calls[0]->done.IsSet());
  AnswerKept();
  EXPECT_EQ(Await(calls[0])->body, "1");
  EXPECT_EQ(Await(calls[1])->body, "1");
  EXPECT_EQ(CountOf("POST /hold0"), 1);
  EXPECT_EQ(CountOf("POST /hold3"), 2);
  EXPECT_EQ(Stats().resends, 2u);
}

INSTANTIATE_TEST_SUITE_P(Codes, HttpTransportGoAwayTest,
                         ::testing::Values(kNoError, kProtocolError, kInternalError,
                                           kEnhanceYourCalm),
                         CodeName);

using HttpTransportShutdownTest = HttpTransportGoAwayTest;

TEST_F(HttpTransportShutdownTest, AGracefulShutdownInTwoStepsLosesNothing) {
  Start();
  const auto calls = Hold(2, "POST");
  // Go's server does this: its first GOAWAY excludes no request, the second excludes those that
  // came too late.
  server_->GoAway({.last = 0x7fffffff});
  EXPECT_EQ(Ask("/new"), "2");
  server_->GoAway();
  AnswerKept();
  for (const auto& call : calls) EXPECT_EQ(Await(call)->body, "1");
  for (int i = 0; i < 2; ++i) EXPECT_EQ(CountOf(StrCat("POST /hold", i)), 1);
}

TEST_F(HttpTransportShutdownTest, GoAwayOnAnIdleConnectionLosesNothing) {
  Start();
  for (int i = 1; i <= 3; ++i) {
    EXPECT_EQ(Ask("/", "POST"), std::to_string(i));
    server_->GoAway();
  }
  EXPECT_EQ(CountOf("POST /"), 3);
}

TEST_F(HttpTransportShutdownTest, A401WithGoAwayEndsOnlyItsRequest) {
  // An API server's answer to a token that it does not know, on a connection that all share.
  StartServer([this](std::shared_ptr<ServerStream> stream) {
    if (stream->request().Header("authorization") == "Bearer bad") {
      stream->Respond(401, "{}");
      server_->GoAway();
    } else {
      Serve(std::move(stream));
    }
  });
  StartTransport();
  std::vector<Watch> watches;
  for (int i = 0; i < 10; ++i) watches.push_back(Open(Request("/watch", "good")));
  for (const Watch& watch : watches) {
    ASSERT_TRUE(Has(watch, "1"));
  }
  Watch bad = Open(Request("/watch", "bad"));
  EXPECT_TRUE(EndOf(bad).ok());
  EXPECT_EQ(bad.sink->code(), 401);
  Watch next = Open(Request("/watch", "good"));
  ASSERT_TRUE(Has(next, "2"));
  for (const auto& stream : TakeKept()) stream->Send("+");
  for (const Watch& watch : watches) {
    EXPECT_TRUE(Has(watch, "1+"));
    EXPECT_FALSE(watch.sink->closed().has_value());
  }
}

class HttpTransportResetTest : public HttpTransportGoAwayTest {
 protected:
  // The first request for a target is reset, later ones are answered.
  void StartResetting(bool after_head) {
    StartServer([this, after_head, code = GetParam()](std::shared_ptr<ServerStream> stream) {
      const ServerRequest& request = stream->request();
      const bool first = CountUp(request.method + " " + request.target) == 1;
      if (!first || request.target == "/") return stream->Respond(200, "answer");
      if (!after_head) return stream->Reset(code);
      // If an answer has no length, libcurl takes NO_ERROR for its end.
      stream->Open(200, {{"content-length", "1000"}});
      stream->Send("half of");
      Keep(std::move(stream));
    });
    StartTransport();
    EXPECT_EQ(Ask("/"), "answer");
  }
};

TEST_P(HttpTransportResetTest, ReadsAreSentAgainAndWritesOnlyIfTheyWereRefused) {
  StartResetting(/*after_head=*/false);
  EXPECT_EQ(Ask("/x"), "answer");
  EXPECT_EQ(CountOf("GET /x"), 2);
  const auto post = Call(Request("/x", "t", "POST"));
  if (GetParam() == kRefusedStream) {
    EXPECT_TRUE(post.ok()) << post.status();
    EXPECT_EQ(CountOf("POST /x"), 2);
  } else {
    EXPECT_EQ(post.status().code(), absl::StatusCode::kUnavailable) << post.status();
    EXPECT_EQ(CountOf("POST /x"), 1);
  }
}

TEST_P(HttpTransportResetTest, AResetAfterTheHeadIsAnError) {
  StartResetting(/*after_head=*/true);
  for (const char* method : {"GET", "POST"}) {
    const auto call = StartCall(Request("/x", "t", method));
    ASSERT_TRUE(Eventually([&] { return CountOf(StrCat(method, " /x")) == 1; }));
    // Its answer comes after the beginning of the other.
    EXPECT_EQ(Ask("/"), "answer");
    for (const auto& stream : TakeKept()) stream->Reset(GetParam());
    EXPECT_EQ(Await(call).status().code(), absl::StatusCode::kUnavailable) << call->result.status();
    EXPECT_EQ(CountOf(StrCat(method, " /x")), 1);
  }
}

TEST_P(HttpTransportResetTest, AResetEndsOnlyItsRequest) {
  StartResetting(/*after_head=*/true);
  std::vector<HttpRequest> requests;
  for (int i = 0; i < 20; ++i) requests.push_back(Request(i % 2 == 0 ? "/" : StrCat("/x", i)));
  const auto calls = StartCalls(std::move(requests));
  for (size_t i = 0; i < calls.size(); i += 2) {
    EXPECT_TRUE(Await(calls[i]).ok()) << calls[i]->result.status();
  }
  // The server may hear of these after it has answered the others.
  std::vector<std::shared_ptr<ServerStream>> kept;
  ASSERT_TRUE(Eventually([&] {
    for (auto& stream : TakeKept()) kept.push_back(std::move(stream));
    return kept.size() == calls.size() / 2;
  }));
  // Its answer comes after the beginnings of the others: a read that is reset before is sent again.
  EXPECT_EQ(Ask("/"), "answer");
  for (const auto& stream : kept) stream->Reset(GetParam());
  for (size_t i = 1; i < calls.size(); i += 2) {
    EXPECT_FALSE(Await(calls[i]).ok());
  }
  EXPECT_EQ(server_->stats().accepted, 1u);
}

INSTANTIATE_TEST_SUITE_P(Codes, HttpTransportResetTest,
                         ::testing::Values(kNoError, kProtocolError, kInternalError, kRefusedStream,
                                           kCancel, kEnhanceYourCalm, kHttp11Required),
                         CodeName);

using HttpTransportLossTest = TransportFixture;

TEST_F(HttpTransportLossTest, StreamsSurviveGoAwayAndNewOnesGoElsewhere) {
  Start();
  std::vector<Watch> old = OpenMany(5);
  ASSERT_TRUE(AllOpen(old));
  server_->GoAway();
  std::vector<Watch> more;
  for (int i = 0; i < 3; ++i) more.push_back(Open(Request("/watch/new")));
  ASSERT_TRUE(AllOpen(more));
  for (const Watch& watch : more) EXPECT_EQ(watch.sink->data(), "2");
  for (const auto& stream : TakeKept()) {
    if (stream->request().connection == 1) stream->Send("+");
  }
  for (const Watch& watch : old) {
    EXPECT_TRUE(Has(watch, "1+"));
    EXPECT_FALSE(watch.sink->closed().has_value());
  }
  // When the last of them ends, the connection is closed.
  old.clear();
  EXPECT_TRUE(Eventually([this] { return server_->stats().connected == 1; }));
  EXPECT_TRUE(Eventually([this] { return Stats().connections == 1; }));
  for (const Watch& watch : more) EXPECT_FALSE(watch.sink->closed().has_value());
}

TEST_F(HttpTransportLossTest, CallsSurviveGoAwayAfterEveryAnswer) {
  // An API server's 401 does this.
  StartServer([this](std::shared_ptr<ServerStream> stream) {
    stream->Respond(401, "{}");
    server_->GoAway();
  });
  StartTransport();
  for (int round = 0; round < 5; ++round) {
    for (const auto& call : StartCalls(std::vector(10, Request("/")))) {
      ASSERT_TRUE(Await(call).ok()) << call->result.status();
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
  EXPECT_EQ(Ask(Request("/")), "1");
  EXPECT_EQ(Ask(Request("/twice")), "3");
  EXPECT_EQ(Ask(Request("/twice", "t", "POST")), "5");
  EXPECT_EQ(Stats().resends, 4u);
  for (const char* method : {"GET", "POST"}) {
    const auto answer = Call(Request("/always", "t", method));
    EXPECT_EQ(answer.status().code(), absl::StatusCode::kUnavailable) << answer.status();
    EXPECT_THAT(std::string(answer.status().message()), HasSubstr("repeatedly rejects requests"));
    EXPECT_EQ(CountOf(std::string(method) + " /always"), 9);
  }
}

TEST_F(HttpTransportLossTest, RequestsThatGoAwayExcludesAreNotLost) {
  // An API server does this after a 401, while other requests are in flight.
  StartServer([this](std::shared_ptr<ServerStream> stream) {
    const ServerRequest& request = stream->request();
    CountUp(request.method + request.target);
    stream->Respond(request.target == "/bad" ? 401 : 200, "{}");
    if (request.target == "/bad") server_->GoAway();
  });
  StartTransport();
  for (int round = 0; round < 50; ++round) {
    std::vector<HttpRequest> requests;
    for (int i = 0; i < 15; ++i) {
      requests.push_back(Request(i % 3 == 0 ? "/bad" : "/good" + std::to_string(round * 100 + i),
                                 "t", i % 3 == 2 ? "POST" : "GET"));
    }
    const auto calls = StartCalls(std::move(requests));
    for (size_t i = 0; i < calls.size(); ++i) {
      ASSERT_TRUE(Await(calls[i]).ok()) << calls[i]->result.status();
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
  EXPECT_EQ(Ask(Request("/")), "1");
  EXPECT_EQ(Ask(Request("/close")), "2");
  const auto post = Call(Request("/close", "t", "POST"));
  EXPECT_EQ(post.status().code(), absl::StatusCode::kUnavailable) << post.status();
  EXPECT_THAT(std::string(post.status().message()), HasSubstr("whether the request was served"));
  // libcurl did not send it again, either.
  EXPECT_EQ(Ask(Request("/")), "3");
  EXPECT_EQ(CountOf("POST /close"), 1);
}

TEST_F(HttpTransportLossTest, AConnectionClosedWhileIdleLosesNothing) {
  Start();
  for (int i = 1; i <= 3; ++i) {
    const auto answer = Call(Request("/", "t", "POST"));
    ASSERT_TRUE(answer.ok()) << answer.status();
    EXPECT_EQ(answer->body, std::to_string(i));
    server_->CloseConnections();
    ASSERT_TRUE(Eventually([this] { return server_->stats().connected == 0; }));
  }
}

TEST_F(HttpTransportLossTest, ClosesAConnectionThatDrainsTooLong) {
  Start({.drain_timeout = absl::Milliseconds(50)});
  std::vector<Watch> old = OpenMany(2);
  ASSERT_TRUE(AllOpen(old));
  server_->GoAway();
  std::vector<Watch> next = OpenMany(1);
  ASSERT_TRUE(AllOpen(next));
  for (const Watch& watch : old) {
    EXPECT_EQ(EndOf(watch).code(), absl::StatusCode::kUnavailable);
  }
  EXPECT_TRUE(Eventually([this] { return server_->stats().connected == 1; }));
  EXPECT_FALSE(next[0].sink->closed().has_value());
}

TEST_F(HttpTransportLossTest, Http1SurvivesConnectionsThatCloseAfterEachAnswer) {
  StartServer(
      [this](std::shared_ptr<ServerStream> stream) {
        server_->GoAway();  // "Connection: close"
        stream->Respond(200, std::to_string(stream->request().connection));
      },
      {.http2 = false});
  StartTransport();
  for (int i = 1; i <= 3; ++i) EXPECT_EQ(Ask(Request("/")), std::to_string(i));
}

}  // namespace
}  // namespace mandate
