// GOAWAY and RST_STREAM in every shape, from a real server.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "manager/core/strings.h"
#include "manager/transport/http_transport.h"
#include "manager/transport/testing/h2_server.h"
#include "manager/transport/testing/transport_fixture.h"

namespace mandate {
namespace {

// RFC 9113, 7.
enum ErrorCode : uint32_t {
  kNoError = 0,
  kProtocolError = 1,
  kInternalError = 2,
  kRefusedStream = 7,
  kCancel = 8,
  kEnhanceYourCalm = 11,
  kHttp11Required = 13,
};

std::string CodeName(const ::testing::TestParamInfo<uint32_t>& test) {
  return "Error" + std::to_string(test.param);
}

// A server that holds what starts with /hold, for the test to answer, and answers everything else
// with the number of its connection.
class HttpTransportGoAwayTest : public TransportFixture,
                                public ::testing::WithParamInterface<uint32_t> {
 protected:
  void Start() {
    StartServer([this](std::shared_ptr<ServerStream> stream) {
      CountUp(stream->request().method + " " + stream->request().target);
      if (stream->request().target.starts_with("/hold") && stream->request().connection == 1) {
        Keep(std::move(stream));
      } else {
        stream->Respond(200, std::to_string(stream->request().connection));
      }
    });
    StartTransport();
  }

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
    const auto answer = Call(Request(std::move(target), "t", method));
    return answer.ok() ? answer->body : answer.status().ToString();
  }

  std::string Await(const std::shared_ptr<AsyncCall>& call) {
    loop_->Await(call->done);
    return call->result.ok() ? call->result->body : call->result.status().ToString();
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
  for (const auto& call : calls) EXPECT_EQ(Await(call), "1");
  EXPECT_TRUE(Eventually([this] { return Stats().connections == 1; }));
  EXPECT_EQ(Stats().connections_drained, 1u);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(CountOf(StrCat("POST /hold", i)), 1);
}

TEST_P(HttpTransportGoAwayTest, ExcludedRequestsAreSentAgain) {
  Start();
  const auto calls = Hold(4, "POST");
  // Stream 1 was the first request, 3 and 5 are kept.
  server_->GoAway({.error_code = GetParam(), .last = 5});
  EXPECT_EQ(Await(calls[2]), "2");
  EXPECT_EQ(Await(calls[3]), "2");
  EXPECT_FALSE(calls[0]->done.IsSet());
  AnswerKept();
  EXPECT_EQ(Await(calls[0]), "1");
  EXPECT_EQ(Await(calls[1]), "1");
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
  // As Go's server does: nothing is left out at first, then what came too late is.
  server_->GoAway({.last = 0x7fffffff});
  EXPECT_EQ(Ask("/new"), "2");
  server_->GoAway();
  AnswerKept();
  for (const auto& call : calls) EXPECT_EQ(Await(call), "1");
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
      stream->Open();
      stream->Send(std::to_string(stream->request().connection));
      Keep(std::move(stream));
    }
  });
  StartTransport();
  std::vector<Watch> watches;
  for (int i = 0; i < 10; ++i) watches.push_back(Open(Request("/watch", "good")));
  for (const Watch& watch : watches) {
    ASSERT_TRUE(Eventually([&] { return watch.sink->data() == "1"; }));
  }
  Watch bad = Open(Request("/watch", "bad"));
  ASSERT_TRUE(Eventually([&] { return bad.sink->closed().has_value(); }));
  EXPECT_EQ(bad.sink->code(), 401);
  Watch next = Open(Request("/watch", "good"));
  ASSERT_TRUE(Eventually([&] { return next.sink->data() == "2"; }));
  for (const auto& stream : TakeKept()) stream->Send("+");
  for (const Watch& watch : watches) {
    EXPECT_TRUE(Eventually([&] { return watch.sink->data() == "1+"; }));
    EXPECT_FALSE(watch.sink->closed().has_value());
  }
  OnLoop([&] {
    watches.clear();
    bad.stream.reset();
    next.stream.reset();
  });
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
      // Of an answer whose length was not said, libcurl takes NO_ERROR for the end.
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
    loop_->Await(call->done);
    EXPECT_EQ(call->result.status().code(), absl::StatusCode::kUnavailable)
        << call->result.status();
    EXPECT_EQ(CountOf(StrCat(method, " /x")), 1);
  }
}

TEST_P(HttpTransportResetTest, AResetEndsOnlyItsRequest) {
  StartResetting(/*after_head=*/true);
  std::vector<std::shared_ptr<AsyncCall>> calls;
  OnLoop([&] {
    for (int i = 0; i < 20; ++i) {
      calls.push_back(std::make_shared<AsyncCall>());
      transport_->Call({}, Request(i % 2 == 0 ? "/" : StrCat("/x", i)), Into(calls.back()));
    }
  });
  for (size_t i = 0; i < calls.size(); i += 2) {
    loop_->Await(calls[i]->done);
    EXPECT_TRUE(calls[i]->result.ok()) << calls[i]->result.status();
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
    loop_->Await(calls[i]->done);
    EXPECT_FALSE(calls[i]->result.ok());
  }
  EXPECT_EQ(server_->stats().accepted, 1u);
}

INSTANTIATE_TEST_SUITE_P(Codes, HttpTransportResetTest,
                         ::testing::Values(kNoError, kProtocolError, kInternalError, kRefusedStream,
                                           kCancel, kEnhanceYourCalm, kHttp11Required),
                         CodeName);

}  // namespace
}  // namespace mandate
