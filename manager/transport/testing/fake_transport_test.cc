#include "manager/transport/testing/fake_transport.h"

#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "manager/core/testing/simulated_loop.h"

namespace mandate {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct RecordingSink : StreamSink {
  Flow OnOpen(const HttpResponse& head) override {
    events.push_back("open " + std::to_string(head.code));
    return flow;
  }
  Flow OnData(std::string_view bytes) override {
    events.push_back("data " + std::string(bytes));
    return flow;
  }
  void OnClosed(absl::Status status) override {
    events.push_back("closed " + std::string(absl::StatusCodeToString(status.code())));
  }
  std::vector<std::string> events;
  Flow flow = Flow::kContinue;
};

class FakeTransportTest : public ::testing::Test {
 protected:
  HttpRequest Get(std::string target, std::string token = "t0") {
    HttpRequest request(endpoint_, BearerToken{std::make_shared<const Secret>(std::move(token))},
                        "GET", std::move(target));
    request.user_agent = "agent";
    return request;
  }

  void Call(HttpRequest request, CallContext context = {}) {
    fake_.Call(context, std::move(request), [this](absl::StatusOr<HttpResponse> response) {
      EXPECT_FALSE(inside_call_);
      results_.push_back(std::move(response));
    });
  }

  absl::Time now() { return loop_.clock().TimeNow(); }

  std::shared_ptr<const Endpoint> endpoint_ = [] {
    auto endpoint = std::make_shared<Endpoint>();
    endpoint->server = "https://10.0.0.1";
    endpoint->ca_pem = "ca";
    return endpoint;
  }();
  SimulatedLoop loop_;
  FakeTransport fake_{loop_};
  bool inside_call_ = false;
  std::vector<absl::StatusOr<HttpResponse>> results_;
};

TEST_F(FakeTransportTest, AnswersFromTheHandlerAndRecordsTheRequest) {
  fake_.Handle([](const HttpRequest& request) {
    return FakeReply::Json(request.target == "/a" ? 200 : 404, "{}");
  });
  Call(Get("/a", "token-1"));
  Call(Get("/b", "token-2"));
  EXPECT_TRUE(results_.empty());
  loop_.RunReady();
  ASSERT_EQ(results_.size(), 2u);
  EXPECT_EQ(results_[0]->code, 200);
  EXPECT_EQ(results_[1]->code, 404);
  ASSERT_EQ(fake_.requests().size(), 2u);
  EXPECT_EQ(fake_.requests()[1].token, "token-2");
  EXPECT_EQ(fake_.requests()[1].target, "/b");
  EXPECT_EQ(fake_.requests()[1].user_agent, "agent");
  EXPECT_EQ(fake_.requests()[1].time, now());
  EXPECT_EQ(fake_.CountRequests("GET", "/"), 2u);
}

TEST_F(FakeTransportTest, ExpectationsAreUsedUpInOrderBeforeTheHandler) {
  fake_.Handle([](const HttpRequest&) { return FakeReply::Code(500); });
  fake_.Expect("GET", "/a", FakeReply::Code(201));
  fake_.Expect("GET", "/a", FakeReply::Code(202));
  fake_.Expect("PUT", "/a", FakeReply::Code(203));
  for (int i = 0; i < 3; ++i) Call(Get("/a?x=y"));
  loop_.RunReady();
  ASSERT_EQ(results_.size(), 3u);
  EXPECT_EQ(results_[0]->code, 201);
  EXPECT_EQ(results_[1]->code, 202);
  EXPECT_EQ(results_[2]->code, 500);
  EXPECT_EQ(fake_.unmet_expectations(), 1u);
}

TEST_F(FakeTransportTest, AnUnscriptedCallIsAnError) {
  Call(Get("/nobody"));
  loop_.RunReady();
  ASSERT_EQ(results_.size(), 1u);
  EXPECT_THAT(results_[0].status().ToString(), HasSubstr("GET /nobody"));
}

TEST_F(FakeTransportTest, RepliesAfterVirtualTime) {
  fake_.Handle([](const HttpRequest&) { return FakeReply::Code(200).After(absl::Seconds(5)); });
  Call(Get("/a"));
  loop_.RunFor(absl::Milliseconds(4999));
  EXPECT_TRUE(results_.empty());
  loop_.RunFor(absl::Milliseconds(1));
  EXPECT_EQ(results_.size(), 1u);
}

TEST_F(FakeTransportTest, TheDeadlineEndsACallExactlyOnce) {
  fake_.Handle([](const HttpRequest&) { return FakeReply::Code(200).After(absl::Seconds(5)); });
  Call(Get("/a"), CallContext().WithDeadline(now() + absl::Seconds(2)));
  loop_.RunFor(absl::Seconds(2));
  ASSERT_EQ(results_.size(), 1u);
  EXPECT_EQ(results_[0].status().code(), absl::StatusCode::kDeadlineExceeded);
  loop_.RunFor(absl::Seconds(60));
  EXPECT_EQ(results_.size(), 1u);
}

TEST_F(FakeTransportTest, AStopRequestEndsACallExactlyOnce) {
  fake_.Handle([](const HttpRequest&) { return FakeReply::Never(); });
  for (const bool before : {true, false}) {
    SCOPED_TRACE(before);
    results_.clear();
    std::stop_source source;
    if (before) source.request_stop();
    inside_call_ = true;
    Call(Get("/a"), {.stop = source.get_token()});
    inside_call_ = false;
    if (!before) {
      loop_.RunFor(absl::Seconds(1));
      EXPECT_TRUE(results_.empty());
      source.request_stop();
    }
    loop_.RunReady();
    ASSERT_EQ(results_.size(), 1u);
    EXPECT_EQ(results_[0].status().code(), absl::StatusCode::kCancelled);
  }
}

TEST_F(FakeTransportTest, RejectsInvalidRequestsInALaterTask) {
  HttpRequest request = Get("/a");
  request.headers.emplace_back("Authorization", "Bearer other");
  inside_call_ = true;
  Call(std::move(request));
  inside_call_ = false;
  loop_.RunReady();
  ASSERT_EQ(results_.size(), 1u);
  EXPECT_EQ(results_[0].status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(fake_.requests().empty());
}

TEST_F(FakeTransportTest, FailsAfterSoManyRequests) {
  size_t served = 0;
  fake_.Handle([&served](const HttpRequest&) {
    ++served;
    return FakeReply::Code(200);
  });
  fake_.FailAfter(2, {.times = 1});
  for (int i = 0; i < 4; ++i) Call(Get("/a"));
  loop_.RunReady();
  ASSERT_EQ(results_.size(), 4u);
  EXPECT_EQ(served, 3u);
  EXPECT_TRUE(results_[1].ok());
  EXPECT_EQ(results_[2].status().code(), absl::StatusCode::kUnavailable);
  EXPECT_TRUE(results_[3].ok());

  fake_.FailAfter(0, {.times = 1, .reply_lost = true});
  Call(Get("/a"));
  loop_.RunReady();
  EXPECT_EQ(served, 4u);
  EXPECT_EQ(results_[4].status().code(), absl::StatusCode::kUnavailable);
}

TEST_F(FakeTransportTest, AStreamBringsWhatTheTestSends) {
  auto sink = std::make_shared<RecordingSink>();
  const auto stream = fake_.Open(Get("/watch"), sink);
  fake_.stream(0).Open(200);
  fake_.stream(0).Send("one");
  fake_.stream(0).Send("two");
  fake_.stream(0).Close();
  fake_.stream(0).Send("dropped");
  EXPECT_TRUE(sink->events.empty());
  loop_.RunReady();
  EXPECT_THAT(sink->events, ElementsAre("open 200", "data one", "data two", "closed OK"));
  EXPECT_FALSE(fake_.stream(0).cancelled());
  EXPECT_EQ(fake_.open_stream_count(), 0u);
  EXPECT_TRUE(fake_.requests()[0].is_stream);
}

TEST_F(FakeTransportTest, DestroyingTheStreamCancelsAndOnlyClosesTheSink) {
  auto sink = std::make_shared<RecordingSink>();
  auto stream = fake_.Open(Get("/watch"), sink);
  fake_.stream(0).Open(200);
  loop_.RunReady();
  fake_.stream(0).Send("under way");
  stream.reset();
  EXPECT_TRUE(fake_.stream(0).cancelled());
  EXPECT_THAT(sink->events, ElementsAre("open 200"));
  loop_.RunReady();
  EXPECT_THAT(sink->events, ElementsAre("open 200", "closed CANCELLED"));
}

TEST_F(FakeTransportTest, ASinkMayCancelFromItsCallback) {
  auto sink = std::make_shared<RecordingSink>();
  sink->flow = StreamSink::Flow::kCancel;
  const auto stream = fake_.Open(Get("/watch"), sink);
  fake_.stream(0).Open(200);
  fake_.stream(0).Send("never seen");
  loop_.RunReady();
  EXPECT_THAT(sink->events, ElementsAre("open 200", "closed CANCELLED"));
  EXPECT_TRUE(fake_.stream(0).cancelled());
}

TEST_F(FakeTransportTest, StreamsFailByScriptToo) {
  fake_.OnStream([](FakeStream& stream) { stream.Open(200); });
  fake_.FailAfter(1);
  auto first = std::make_shared<RecordingSink>();
  auto second = std::make_shared<RecordingSink>();
  const auto stream = fake_.Open(Get("/watch/1"), first);
  const auto failed = fake_.Open(Get("/watch/2"), second);
  loop_.RunFor(absl::Minutes(1));
  EXPECT_THAT(first->events, ElementsAre("open 200"));
  EXPECT_THAT(second->events, ElementsAre("closed UNAVAILABLE"));
  EXPECT_EQ(fake_.FindStream("/watch"), &fake_.stream(0));
}

TEST_F(FakeTransportTest, DestroyingItEndsEverythingOnce) {
  auto fake = std::make_unique<FakeTransport>(loop_);
  std::vector<absl::StatusCode> codes;
  fake->Call({}, Get("/"), [&codes](absl::StatusOr<HttpResponse> response) {
    codes.push_back(response.status().code());
  });
  auto sink = std::make_shared<RecordingSink>();
  const auto stream = fake->Open(Get("/"), sink);
  fake.reset();
  EXPECT_TRUE(codes.empty());
  loop_.RunFor(absl::Minutes(1));
  EXPECT_THAT(codes, ElementsAre(absl::StatusCode::kCancelled));
  EXPECT_THAT(sink->events, ElementsAre("closed CANCELLED"));
}

TEST_F(FakeTransportTest, AServerSeesAStreamThatTimesOut) {
  auto sink = std::make_shared<RecordingSink>();
  const auto handle = fake_.Open(Get("/api/v1/pods?watch=true"), sink);
  int heard = 0;
  fake_.stream(0).OnCancelled([&] { ++heard; });
  loop_.RunFor(absl::Seconds(29));
  EXPECT_EQ(heard, 0);
  loop_.RunFor(absl::Seconds(2));
  EXPECT_EQ(heard, 1);
  EXPECT_THAT(sink->events, ElementsAre("closed UNAVAILABLE"));
}

}  // namespace
}  // namespace mandate
