#include "manager/transport/active_call.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "manager/core/not_sent.h"
#include "manager/core/testing/simulated_loop.h"

namespace mandate {
namespace {

using testing::HasSubstr;

// Accepts this many bytes.
class Sink : public BodySink {
 public:
  explicit Sink(size_t most) : most_(most) {}
  void OnHeaders(const HttpResponse& head) override { code = head.code; }
  absl::Status OnBody(std::string_view bytes) override {
    body.append(bytes);
    return body.size() <= most_ ? absl::OkStatus() : absl::ResourceExhaustedError("enough");
  }

  int code = 0;
  std::string body;

 private:
  const size_t most_;
};

class ActiveCallTest : public testing::Test {
 protected:
  void Call(const CallContext& context = {}, std::shared_ptr<BodySink> sink = nullptr) {
    HttpRequest request(endpoint_, EndpointCertificate(), "GET", "/version");
    request.body_sink = std::move(sink);
    active_ = std::make_shared<ActiveCall>(
        loop_, options_, stats_, std::move(request), [this](absl::StatusOr<HttpResponse> answer) {
          EXPECT_FALSE(answer_.has_value()) << "it is answered once";
          answer_ = std::move(answer);
        });
    active_->SetOnDrop([this] { ++dropped_; });
    active_->Bind(context);
  }
  static HttpResponse Head(int code) {
    HttpResponse head;
    head.code = code;
    return head;
  }
  CallContext Within(absl::Duration time) const {
    return {.deadline = loop_.clock().TimeNow() + time, .stop = stop_.get_token()};
  }
  std::string Message() const { return std::string(answer_->status().message()); }

  SimulatedLoop loop_;
  HttpOptions options_;
  HttpStats stats_;
  std::shared_ptr<const Endpoint> endpoint_ = std::make_shared<const Endpoint>();
  std::stop_source stop_;
  std::optional<absl::StatusOr<HttpResponse>> answer_;
  int dropped_ = 0;
  std::shared_ptr<ActiveCall> active_;
};

TEST_F(ActiveCallTest, CollectsTheAnswerAndHandsItOverWhole) {
  Call();
  EXPECT_TRUE(active_->OnHeaders(Head(200)));
  EXPECT_TRUE(active_->OnBody("one "));
  EXPECT_TRUE(active_->OnBody("two"));
  EXPECT_FALSE(answer_.has_value());
  active_->End(absl::OkStatus());
  ASSERT_TRUE(answer_.has_value() && answer_->ok());
  EXPECT_EQ((*answer_)->code, 200);
  EXPECT_EQ((*answer_)->body, "one two");
  EXPECT_FALSE(active_->OnHeaders(Head(200)));
  EXPECT_FALSE(active_->OnBody("more"));
  EXPECT_EQ(dropped_, 0) << "its carrier has ended it";
}

TEST_F(ActiveCallTest, LeavesNoTimerAndNoStopCallback) {
  Call(Within(absl::Minutes(1)));
  EXPECT_EQ(loop_.NextTimer(), loop_.clock().TimeNow() + absl::Minutes(1));
  active_->End(absl::UnavailableError("lost"));
  EXPECT_EQ(loop_.NextTimer(), absl::InfiniteFuture());
  stop_.request_stop();
  EXPECT_EQ(loop_.ready_tasks(), 0u);
}

TEST_F(ActiveCallTest, AResponseWithoutAHeadIsAnError) {
  Call();
  active_->End(absl::OkStatus());
  EXPECT_TRUE(absl::IsUnavailable(answer_->status()));
}

TEST_F(ActiveCallTest, TheEarlierOfDeadlineAndLimitEndsIt) {
  const struct {
    absl::Duration deadline;
    absl::Duration took;
    const char* message;
  } rows[] = {
      {absl::Minutes(1), absl::Minutes(1), "the deadline passed"},
      {absl::Minutes(5), absl::Minutes(5), "the deadline passed"},
      {absl::Minutes(6), absl::Minutes(5), "after 5m (max_call_duration)"},
      {absl::InfiniteDuration(), absl::Minutes(5), "after 5m (max_call_duration)"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.deadline);
    answer_.reset();
    dropped_ = 0;
    Call(Within(row.deadline));
    loop_.RunFor(row.took - absl::Milliseconds(1));
    EXPECT_FALSE(answer_.has_value());
    loop_.RunFor(absl::Milliseconds(1));
    ASSERT_TRUE(answer_.has_value());
    EXPECT_TRUE(absl::IsDeadlineExceeded(answer_->status()));
    EXPECT_THAT(Message(), HasSubstr(row.message));
    EXPECT_EQ(dropped_, 1);
  }
}

TEST_F(ActiveCallTest, AStopEndsItInALaterTask) {
  Call(Within(absl::Minutes(1)));
  stop_.request_stop();
  EXPECT_FALSE(answer_.has_value());
  loop_.RunReady();
  ASSERT_TRUE(answer_.has_value());
  EXPECT_TRUE(absl::IsCancelled(answer_->status()));
  EXPECT_EQ(dropped_, 1);
}

TEST_F(ActiveCallTest, AnErrorTellsWhetherItMayHaveBeenServed) {
  Call();
  active_->End(absl::UnavailableError("lost"));
  EXPECT_TRUE(WasNotSent(answer_->status()));
  answer_.reset();
  Call();
  active_->NoteSent();
  active_->End(absl::UnavailableError("lost"));
  EXPECT_FALSE(WasNotSent(answer_->status()));
}

TEST_F(ActiveCallTest, AnAnswerIsBounded) {
  options_.max_response_bytes = 7;
  Call();
  EXPECT_TRUE(active_->OnHeaders(Head(200)));
  EXPECT_TRUE(active_->OnBody("1234567"));
  EXPECT_EQ(stats_.limited_too_large, 0u);
  EXPECT_FALSE(active_->OnBody("8"));
  EXPECT_TRUE(absl::IsResourceExhausted(active_->reason()));
  EXPECT_EQ(stats_.limited_too_large, 1u);
}

TEST_F(ActiveCallTest, ASinkTakesTheBodyOfASuccessOnly) {
  const auto sink = std::make_shared<Sink>(4);
  Call({}, sink);
  EXPECT_TRUE(active_->OnHeaders(Head(204)));
  EXPECT_EQ(sink->code, 204);
  EXPECT_TRUE(active_->OnBody("1234"));
  EXPECT_EQ(sink->body, "1234");
  EXPECT_FALSE(active_->OnBody("5"));
  EXPECT_EQ(active_->reason(), absl::ResourceExhaustedError("enough"));
  for (const int code : {199, 300, 404}) {
    const auto other = std::make_shared<Sink>(4);
    answer_.reset();
    Call({}, other);
    EXPECT_TRUE(active_->OnHeaders(Head(code)));
    EXPECT_TRUE(active_->OnBody("refused"));
    active_->End(absl::OkStatus());
    EXPECT_EQ((*answer_)->body, "refused");
    EXPECT_EQ(other->code, 0);
    EXPECT_EQ(other->body, "");
  }
}

TEST_F(ActiveCallTest, TheHeadOfAnErrorIsEnough) {
  Call();
  EXPECT_FALSE(active_->AcceptTruncatedResponse()) << "no head has arrived yet";
  EXPECT_TRUE(active_->OnHeaders(Head(399)));
  EXPECT_FALSE(active_->AcceptTruncatedResponse());
  Call();
  HttpResponse busy = Head(400);
  busy.retry_after = absl::Seconds(7);
  EXPECT_TRUE(active_->OnHeaders(busy));
  EXPECT_TRUE(active_->OnBody("a par"));
  EXPECT_TRUE(active_->AcceptTruncatedResponse());
  active_->End(absl::OkStatus());
  EXPECT_EQ((*answer_)->code, 400);
  EXPECT_EQ((*answer_)->retry_after, absl::Seconds(7));
  EXPECT_EQ((*answer_)->body, "") << "the body of a truncated response is dropped";
}

}  // namespace
}  // namespace mandate
