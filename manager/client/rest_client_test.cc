#include "manager/client/rest_client.h"

#include <gtest/gtest.h>

#include "manager/core/not_sent.h"
#include "manager/core/testing/simulated_loop.h"

namespace mandate {
namespace {

// It answers, or drops the callback as a stopped loop does.
struct FakeClient : RestClient {
  void Send(const CallContext&, RestRequest, Done done) override {
    ++sent;
    if (drop_at_once) return;
    loop_.Post([this, done = std::move(done)]() mutable {
      if (answer) std::move(done)(Response());
    });
  }
  std::unique_ptr<Stream> Watch(RestRequest, std::shared_ptr<StreamSink>) override {
    return nullptr;
  }
  std::string_view component() const override { return "c"; }
  Loop& loop() override { return loop_; }

  static HttpResponse Response() {
    HttpResponse response;
    response.code = 200;
    response.body = "x";
    return response;
  }

  struct ALoop : SimulatedLoop {
    bool CanAwait() const override { return can_await; }
    bool can_await = true;
  };
  ALoop loop_;
  int sent = 0;
  bool drop_at_once = false;
  bool answer = true;
};

TEST(RestClientTest, DoWaitsForTheAnswer) {
  FakeClient client;
  EXPECT_EQ(client.Do({}, {})->body, "x");
}

TEST(RestClientTest, DoEndsWhenTheAnswerCanNoLongerCome) {
  FakeClient client;
  client.answer = false;
  EXPECT_EQ(client.Do({}, {}).status().code(), absl::StatusCode::kCancelled);
  client.drop_at_once = true;
  EXPECT_EQ(client.Do({}, {}).status().code(), absl::StatusCode::kCancelled);
}

TEST(RestClientTest, DoOnTheLoopsOwnThreadIsAnErrorAndSendsNothing) {
  FakeClient client;
  client.loop_.can_await = false;
  const absl::Status status = client.Do({}, {}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
  EXPECT_TRUE(WasNotSent(status));
  EXPECT_EQ(client.sent, 0);
}

}  // namespace
}  // namespace mandate
