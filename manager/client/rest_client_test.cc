#include "manager/client/rest_client.h"

#include <gtest/gtest.h>

#include "manager/core/testing/simulated_loop.h"

namespace mandate {
namespace {

// Answers, or drops the callback as a loop that stopped does.
struct FakeClient : RestClient {
  void Send(const CallContext&, RestRequest, Done done) override {
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

  SimulatedLoop loop_;
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

}  // namespace
}  // namespace mandate
