// The number of bytes of answers that a component's client holds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

#include "manager/client/component_client.h"
#include "manager/client/testing/client_fixture.h"

namespace mandate {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A transport whose answers come piece by piece.
struct PiecewiseTransport : Transport {
  struct Under {
    std::string target;
    std::shared_ptr<BodySink> sink;
    std::optional<Done> done;

    void Finish(absl::StatusOr<HttpResponse> result) {
      std::move (*std::exchange(done, std::nullopt))(std::move(result));
    }
  };

  void Call(const CallContext&, HttpRequest request, Done done) override {
    calls.push_back({request.target, request.body_sink, std::move(done)});
    calls.back().sink->OnHeaders(HttpResponse());
  }
  std::unique_ptr<Stream> Open(HttpRequest, std::shared_ptr<StreamSink>) override {
    return nullptr;
  }

  // Sends bytes to the newest call of `target`, and ends the call if its client does not accept
  // them.
  void Bring(std::string_view target, size_t bytes) {
    Under& call = Find(target);
    if (absl::Status status = call.sink->OnBody(std::string(bytes, 'x')); !status.ok()) {
      call.Finish(status);
    }
  }
  void End(std::string_view target) {
    HttpResponse response;
    response.code = 200;
    Find(target).Finish(std::move(response));
  }
  void Fail(std::string_view target) { Find(target).Finish(absl::UnavailableError("reset")); }
  Under& Find(std::string_view target) {
    for (auto it = calls.rbegin(); it != calls.rend(); ++it) {
      if (it->target == target) return *it;
    }
    ADD_FAILURE() << "no call of " << target;
    std::abort();
  }
  std::vector<std::string> Open() const {
    std::vector<std::string> open;
    for (const Under& call : calls) {
      if (call.done.has_value()) open.push_back(call.target);
    }
    return open;
  }

  std::deque<Under> calls;
};

struct ComponentAnswersTest : ClientFixture {
  ComponentAnswersTest() {
    options.transport = &transport;
    options.response_budget = {.max_bytes = 100, .max_response_bytes = 150};
  }
  void Start(std::string target, std::string method = "GET", std::stop_token stop = {}) {
    RestRequest request;
    request.method = std::move(method);
    request.target = target;
    CallContext context = In(absl::Minutes(10));
    context.stop = std::move(stop);
    client().Send(context, std::move(request),
                  [this, target](Result r) { ended.emplace_back(target, std::move(r)); });
    loop.RunFor(absl::Seconds(1));
  }
  // Pods and nodes, of which the nodes are postponed.
  void ExceedBudget(std::stop_token stop_of_nodes = {}) {
    Start("/api/v1/pods");
    Start("/api/v1/nodes", "GET", std::move(stop_of_nodes));
    transport.Bring("/api/v1/pods", 60);
    transport.Bring("/api/v1/nodes", 60);
  }
  std::vector<std::string> Ended() const {
    std::vector<std::string> targets;
    for (const auto& [target, result] : ended) targets.push_back(target);
    return targets;
  }
  double Held() { return Level("response_bytes"); }

  PiecewiseTransport transport;
  std::vector<std::pair<std::string, Result>> ended;
};

TEST_F(ComponentAnswersTest, ACallOverTheBudgetWaitsForItsTurn) {
  ExceedBudget();
  EXPECT_THAT(transport.Open(), ElementsAre("/api/v1/pods"));
  EXPECT_EQ(Held(), 60);
  EXPECT_EQ(Level("queue"), 1);
  EXPECT_EQ(Met("response_bytes"), 1);
  Start("/api/v1/secrets");
  EXPECT_THAT(transport.Open(), ElementsAre("/api/v1/pods", "/api/v1/secrets"))
      << "a call that may be small does not wait";
  transport.Bring("/api/v1/secrets", 10);
  transport.End("/api/v1/secrets");
  EXPECT_EQ(Level("queue"), 1);
  transport.Bring("/api/v1/pods", 60);
  transport.End("/api/v1/pods");
  EXPECT_THAT(transport.Open(), ElementsAre("/api/v1/nodes")) << "asked for again";
  transport.Bring("/api/v1/nodes", 90);
  transport.End("/api/v1/nodes");
  EXPECT_THAT(Ended(), ElementsAre("/api/v1/secrets", "/api/v1/pods", "/api/v1/nodes"));
  EXPECT_EQ(ended[1].second->body.size(), 120u);
  EXPECT_EQ(ended[2].second->body.size(), 90u) << "nothing of what came before";
  EXPECT_EQ(Level("queue"), 0);
  EXPECT_EQ(Level("in_flight"), 0);
}

TEST_F(ComponentAnswersTest, APostponedCallLeavesItsPlaceToAnother) {
  options.max_in_flight = 2;
  for (const char* target : {"/api/v1/pods", "/api/v1/nodes", "/api/v1/secrets"}) Start(target);
  EXPECT_THAT(transport.Open(), ElementsAre("/api/v1/pods", "/api/v1/nodes"));
  transport.Bring("/api/v1/pods", 60);
  transport.Bring("/api/v1/nodes", 60);
  EXPECT_THAT(transport.Open(), ElementsAre("/api/v1/pods", "/api/v1/secrets"));
}

TEST_F(ComponentAnswersTest, APostponedCallIsOneOfThoseThatMayWait) {
  options.max_in_flight = 2;
  options.max_queued = 1;
  ExceedBudget();
  Start("/api/v1/secrets");
  EXPECT_THAT(transport.Open(), ElementsAre("/api/v1/pods", "/api/v1/secrets"));
  Start("/api/v1/services");
  ASSERT_THAT(Ended(), ElementsAre("/api/v1/services"));
  EXPECT_EQ(ended[0].second.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(Level("queue"), 1);
  EXPECT_EQ(Met("queue"), 1);
}

TEST_F(ComponentAnswersTest, AnAnswerThatFailsMidwayMakesRoomBeforeItsRetry) {
  ExceedBudget();
  transport.Fail("/api/v1/pods");
  EXPECT_THAT(transport.Open(), ElementsAre("/api/v1/nodes"));
  transport.Bring("/api/v1/nodes", 60);
  transport.End("/api/v1/nodes");
  loop.RunFor(absl::Minutes(1));
  EXPECT_THAT(transport.Open(), ElementsAre("/api/v1/pods")) << "tried again";
}

TEST_F(ComponentAnswersTest, AWriteIsNeverAskedForAgain) {
  Start("/api/v1/pods");
  Start("/api/v1/namespaces/a/pods", "POST");
  transport.Bring("/api/v1/pods", 60);
  transport.Bring("/api/v1/namespaces/a/pods", 60);
  EXPECT_EQ(transport.Open().size(), 2u);
  transport.End("/api/v1/namespaces/a/pods");
  EXPECT_THAT(Ended(), ElementsAre("/api/v1/namespaces/a/pods"));
}

TEST_F(ComponentAnswersTest, OneAnswerIsBounded) {
  Start("/api/v1/pods");
  transport.Bring("/api/v1/pods", 140);
  transport.Bring("/api/v1/pods", 11);
  ASSERT_THAT(Ended(), ElementsAre("/api/v1/pods"));
  EXPECT_EQ(ended[0].second.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(Met("response"), 1);
  EXPECT_EQ(Met("response_bytes"), 0);
}

TEST_F(ComponentAnswersTest, APostponedCallEndsAtItsDeadline) {
  ExceedBudget();
  loop.RunFor(absl::Minutes(10));
  EXPECT_THAT(Ended(), testing::UnorderedElementsAre("/api/v1/pods", "/api/v1/nodes"));
  EXPECT_EQ(Level("queue"), 0);
  // The bytes of a call that has ended are free although its answer still comes.
  Start("/api/v1/secrets");
  transport.Bring("/api/v1/pods", 60);
  transport.Bring("/api/v1/nodes", 60);
  EXPECT_THAT(transport.Open(), ElementsAre("/api/v1/secrets"));
  transport.Bring("/api/v1/secrets", 90);
  Start("/api/v1/services");
  transport.Bring("/api/v1/services", 10);
  EXPECT_THAT(transport.Open(), ElementsAre("/api/v1/secrets", "/api/v1/services"));
}

TEST_F(ComponentAnswersTest, APostponedCallThatIsCancelledIsNotSentAgain) {
  std::stop_source stop;
  ExceedBudget(stop.get_token());
  EXPECT_EQ(Level("queue"), 1);
  stop.request_stop();
  loop.RunFor(absl::Seconds(1));
  EXPECT_THAT(Ended(), ElementsAre("/api/v1/nodes"));
  EXPECT_EQ(Level("queue"), 0);
  transport.End("/api/v1/pods");
  loop.RunFor(absl::Seconds(1));
  EXPECT_THAT(transport.Open(), IsEmpty());
}

// Without a limit, a postponed call might be retried for ever.
TEST_F(ComponentAnswersTest, APostponedCallHasNoMoreAttemptsThanAnother) {
  options.max_attempts = 3;
  options.backoff.initial = absl::Seconds(5);
  for (int attempt = 1; attempt <= 3; ++attempt) {
    Start("/api/v1/pods");
    transport.Bring("/api/v1/pods", 60);
    if (attempt == 1) Start("/api/v1/nodes");
    loop.RunFor(absl::Minutes(1));
    transport.Bring("/api/v1/nodes", 60);
    EXPECT_EQ(Level("queue"), 1);
    transport.End("/api/v1/pods");
    transport.Fail("/api/v1/nodes");
  }
  EXPECT_THAT(Ended(),
              ElementsAre("/api/v1/pods", "/api/v1/pods", "/api/v1/pods", "/api/v1/nodes"));
}

// Invariant 5.
TEST_F(ComponentAnswersTest, AnotherClientsAnswersDoNotCount) {
  auto other = *ComponentClient::Create(options);
  Start("/api/v1/pods");
  transport.Bring("/api/v1/pods", 100);
  std::optional<Result> theirs;
  RestRequest request;
  request.method = "GET";
  request.target = "/api/v1/nodes";
  other->Send(In(absl::Minutes(1)), std::move(request), [&](Result r) { theirs = std::move(r); });
  loop.RunFor(absl::Seconds(1));
  transport.Bring("/api/v1/nodes", 100);
  EXPECT_EQ(Held(), 200) << "clients of one identity add up";
  transport.End("/api/v1/nodes");
  ASSERT_TRUE(theirs.has_value());
  EXPECT_TRUE(theirs->ok());
  EXPECT_THAT(Ended(), IsEmpty());
  owned.reset();
  EXPECT_EQ(Held(), 0) << "though the transport still has the answer";
}

}  // namespace
}  // namespace mandate
