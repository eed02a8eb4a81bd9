// The choice of a connection for a request, and the end of a connection, step by step.
#include "manager/transport/connection_budget.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "manager/core/testing/simulated_loop.h"
#include "manager/transport/testing/scripted_codec.h"

namespace mandate {
namespace {

using ::testing::ElementsAre;

class NotingRequest : public ActiveRequest {
 public:
  NotingRequest(HttpRequest request, std::map<std::string, absl::Status>& ends)
      : ActiveRequest(std::move(request)), ends_(ends) {}
  bool OnHead(const HttpResponse&) override { return true; }
  bool OnBody(std::string_view) override { return true; }
  void Cancel() { EndEarly(absl::CancelledError("nobody waits for it")); }
  void RunOutOfTime() { EndOverdue(absl::DeadlineExceededError("too late")); }

 private:
  void OnEnd(absl::Status status) override { ends_[request().target] = std::move(status); }
  std::map<std::string, absl::Status>& ends_;
};

class ConnectionBudgetTest : public ::testing::Test {
 protected:
  ConnectionBudgetTest() { UseNewBudget(4); }
  ~ConnectionBudgetTest() override { budget_->Shutdown(absl::CancelledError("the end")); }

  void UseNewBudget(size_t connections, std::function<void()> in_doubt = nullptr) {
    if (budget_.has_value()) budget_->Shutdown(absl::CancelledError("the end"));
    loop_.RunReady();
    budget_.emplace(ConnectionContext{loop_, options_, stats_, new_codec_, std::move(in_doubt)},
                    connections, [this] { loop_.Post([this] { budget_->Pump(); }); });
  }

  // Submits a request; the budget acts on it in a later task.
  std::shared_ptr<NotingRequest> Post(const std::string& target, const std::string& component,
                                      const std::string& server = "https://server") {
    auto endpoint = std::make_shared<Endpoint>();
    endpoint->server = server;
    endpoint->ca_pem = "CA";
    HttpRequest request(std::move(endpoint),
                        BearerToken{std::make_shared<const Secret>(std::string("token"))}, "POST",
                        target);
    request.user_agent = component;
    const auto active = std::make_shared<NotingRequest>(std::move(request), ends_);
    EXPECT_EQ(budget_->Submit(active), absl::OkStatus());
    return active;
  }

  std::shared_ptr<NotingRequest> Submit(const std::string& target,
                                        const std::string& component = "a",
                                        const std::string& server = "https://server") {
    const auto active = Post(target, component, server);
    loop_.RunReady();
    return active;
  }

  // Sends the first requests of `count` connections, which are then open.
  void Connect(size_t count) {
    for (size_t i = 0; i < count; ++i) {
      Submit("/first/" + std::to_string(i));
      // A time after which others no longer wait for the connection.
      loop_.RunFor(options_.patience);
    }
    ASSERT_EQ(network_.size(), count);
    for (size_t i = 0; i < count; ++i) {
      network_.codec(i).Answer("/first/" + std::to_string(i));
      Finish(i, "/first/" + std::to_string(i));
    }
    loop_.RunReady();
  }

  // The response to a request on this connection is complete.
  void Finish(size_t codec, const std::string& target) {
    network_.codec(codec).End(target, {.status = absl::OkStatus(), .heard = true});
  }

  size_t CodecOf(const std::string& target) {
    for (size_t i = 0; i < network_.size(); ++i) {
      if (network_.codec(i).Has(target)) return i;
    }
    ADD_FAILURE() << target << " is on no connection";
    return 0;
  }

  SimulatedLoop loop_;
  HttpOptions options_ = {.streams_per_connection = 100, .silence_limit = absl::Hours(24)};
  HttpStats stats_;
  ScriptedNetwork network_;
  ClientCodecFactory new_codec_ = network_.NewCodec();
  std::map<std::string, absl::Status> ends_;
  std::optional<ConnectionBudget> budget_;
};

const TransferResult kRefused = {
    .status = absl::UnavailableError("refused"), .refused = true, .unserved = true, .lost = true};

TEST_F(ConnectionBudgetTest, ComponentsAreSpreadAndEachStaysOnItsConnection) {
  Connect(3);
  std::map<std::string, size_t> homes;
  std::set<size_t> used;
  for (int i = 0; i < 30; ++i) {
    const std::string component = "component-" + std::to_string(i);
    Submit("/" + component, component);
    homes[component] = CodecOf("/" + component);
    used.insert(homes[component]);
  }
  EXPECT_EQ(used.size(), 3u);
  for (const auto& [component, home] : homes) {
    Submit("/again/" + component, component);
    EXPECT_EQ(CodecOf("/again/" + component), home) << component;
  }
}

TEST_F(ConnectionBudgetTest, AConnectionThatCannotBeMadeTakesNoPlace) {
  network_.FailConnecting(absl::ResourceExhaustedError("out of memory"));
  for (int i = 0; i < 10; ++i) {
    Submit("/" + std::to_string(i));
    EXPECT_TRUE(absl::IsResourceExhausted(ends_["/" + std::to_string(i)])) << i;
  }
  EXPECT_EQ(budget_->connections(), 0u);
  network_.FailConnecting(absl::OkStatus());
  Submit("/later");
  ASSERT_EQ(network_.size(), 1u);
  EXPECT_TRUE(network_.codec(0).Has("/later"));
}

TEST_F(ConnectionBudgetTest, ARequestThatCannotBeAddedTakesNoPlace) {
  options_.streams_per_connection = 2;  // one, and one for the probe
  Connect(1);
  network_.RefuseRequests(absl::InternalError("no memory"));
  for (int i = 0; i < 10; ++i) {
    Submit("/" + std::to_string(i));
    EXPECT_TRUE(absl::IsInternal(ends_["/" + std::to_string(i)])) << i;
  }
  network_.RefuseRequests(absl::OkStatus());
  Submit("/later");
  EXPECT_EQ(network_.size(), 1u);
  EXPECT_TRUE(network_.codec(0).Has("/later"));
}

TEST_F(ConnectionBudgetTest, ARequestCancelledInTheQueueTakesNoPlace) {
  options_.max_waiting = 4;
  Submit("/connects");
  for (int i = 0; i < 20; ++i) {
    Submit("/" + std::to_string(i))->Cancel();
    loop_.RunReady();
    EXPECT_TRUE(absl::IsCancelled(ends_["/" + std::to_string(i)])) << i;
  }
  EXPECT_EQ(network_.size(), 1u);
}

// /slow stays on the connection, and /next comes after `what`.
TEST_F(ConnectionBudgetTest, AConnectionInDoubtGetsNoNewRequests) {
  struct Row {
    const char* name;
    absl::Duration silence;
    std::function<void(NotingRequest&, ScriptedCodec&)> what;
    bool probed;
    size_t connections;  // then; /next is on the last
  };
  const absl::Duration patience = options_.patience;
  const Row rows[] = {
      {"a request ran out of time in silence", patience,
       [](NotingRequest& late, ScriptedCodec&) { late.RunOutOfTime(); }, true, 2},
      {"others were answered meanwhile", patience - absl::Milliseconds(1),
       [](NotingRequest& late, ScriptedCodec&) { late.RunOutOfTime(); }, false, 1},
      {"nobody waits for it any more", patience,
       [](NotingRequest& late, ScriptedCodec&) { late.Cancel(); }, false, 1},
      {"something came afterwards", patience,
       [this](NotingRequest& late, ScriptedCodec& codec) {
         late.RunOutOfTime();
         loop_.RunReady();
         codec.Hear();
       },
       true, 1},
  };
  size_t codecs = 0;
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    UseNewBudget(4);
    Submit("/slow");
    ASSERT_EQ(network_.size(), codecs + 1);
    ScriptedCodec& codec = network_.codec(codecs);
    codec.Answer("/slow");
    const auto late = Submit("/late");
    codec.Send("/late");
    codec.Hear();
    loop_.RunFor(row.silence);
    row.what(*late, codec);
    loop_.RunReady();
    Submit("/next");
    EXPECT_EQ(network_.size(), codecs + row.connections);
    EXPECT_TRUE(network_.codec(network_.size() - 1).Has("/next"));
    // It does not wait for silence_limit.
    EXPECT_EQ(codec.Has("/livez"), row.probed);
    EXPECT_TRUE(codec.Has("/slow"));
    codecs = network_.size();
  }
}

TEST_F(ConnectionBudgetTest, SilentConnectionsAreProbedWhenOneIsInDoubt) {
  int doubts = 0;
  UseNewBudget(4, [&] { ++doubts; });
  Submit("/quiet", "a", "https://one");
  Submit("/busy", "a", "https://two");
  const auto late = Submit("/late", "a", "https://three");
  network_.codec(CodecOf("/quiet")).Answer("/quiet");
  network_.codec(CodecOf("/busy")).Answer("/busy");
  network_.codec(CodecOf("/late")).Send("/late");
  loop_.RunFor(options_.patience);
  network_.codec(CodecOf("/busy")).Hear();
  EXPECT_EQ(doubts, 0);
  late->RunOutOfTime();
  loop_.RunReady();
  EXPECT_EQ(doubts, 1);
  budget_->Probe();
  EXPECT_TRUE(network_.codec(CodecOf("/quiet")).Has("/livez"));
  EXPECT_FALSE(network_.codec(CodecOf("/busy")).Has("/livez"));
}

TEST_F(ConnectionBudgetTest, AProbeThatCannotBeSentIsNotWaitedFor) {
  Connect(1);
  Submit("/slow");
  network_.codec(0).Send("/slow");
  network_.RefuseRequests(absl::InternalError("no memory"));
  loop_.RunFor(options_.silence_limit + options_.probe_timeout);
  EXPECT_EQ(budget_->connections(), 1u);
  EXPECT_EQ(stats_.probes, 0u);
  network_.RefuseRequests(absl::OkStatus());
  loop_.RunFor(options_.silence_limit - options_.probe_timeout);
  EXPECT_TRUE(network_.codec(0).Has("/livez"));
  loop_.RunFor(options_.probe_timeout);
  EXPECT_EQ(budget_->connections(), 0u);
  EXPECT_EQ(stats_.connections_lost, 1u);
}

TEST_F(ConnectionBudgetTest, AConnectionInDoubtIsClosedAfterItsLastRequest) {
  Connect(1);
  const auto late = Submit("/late");
  network_.codec(0).Send("/late");
  loop_.RunFor(options_.patience);
  late->RunOutOfTime();
  loop_.RunReady();
  EXPECT_EQ(budget_->connections(), 0u);
  EXPECT_EQ(stats_.connections_doubted, 1u);
  Submit("/next");
  EXPECT_TRUE(network_.codec(1).Has("/next"));
}

TEST_F(ConnectionBudgetTest, ARequeuedRequestKeepsItsTurn) {
  options_.streams_per_connection = 2;  // one, and one for the probe
  Connect(3);
  // The last one waits.
  for (int i = 0; i < 5; ++i) Submit("/" + std::to_string(i));
  ASSERT_EQ(network_.size(), 4u);
  EXPECT_EQ(budget_->connections(), 4u);
  const size_t home = CodecOf("/1");
  network_.codec(home).Send("/1");
  network_.codec(home).End("/1", kRefused);
  loop_.RunReady();
  // That connection takes no more requests. Another one is made for the first waiting request.
  ASSERT_EQ(network_.size(), 5u);
  EXPECT_THAT(network_.codec(4).added(), ElementsAre("/1"));
}

TEST_F(ConnectionBudgetTest, AConnectionThatTheServerClosedDrains) {
  Connect(1);
  Submit("/a");
  network_.codec(0).Send("/a");
  network_.codec(0).Vanish();
  loop_.RunFor(options_.drain_timeout - absl::Seconds(1));
  EXPECT_TRUE(ends_.count("/a") == 0);
  loop_.RunFor(absl::Seconds(1));
  EXPECT_EQ(ends_["/a"].code(), absl::StatusCode::kUnavailable) << ends_["/a"];
  EXPECT_EQ(stats_.connections_drained, 1u);
}

TEST_F(ConnectionBudgetTest, AProbeUsesTheCredentialOfARemainingRequest) {
  options_.silence_limit = absl::Seconds(30);
  Connect(1);
  Submit("/stays", "stays");
  Submit("/revoked", "revoked");
  network_.codec(0).Send("/stays");
  network_.codec(0).Send("/revoked");
  Finish(0, "/revoked");
  loop_.RunFor(options_.silence_limit);
  const ActiveRequest* const probe = network_.codec(0).Get("/livez");
  ASSERT_NE(probe, nullptr);
  EXPECT_EQ(probe->request().user_agent, "stays");
}

TEST_F(ConnectionBudgetTest, APoolThatGotAConnectionWaitsBehindTheOthersForTheNext) {
  options_.streams_per_connection = 2;  // one, and one for the probe
  Connect(4);
  for (int i = 0; i < 4; ++i) Submit("/" + std::to_string(i));
  Submit("/greedy/1", "a", "https://greedy");
  Submit("/greedy/2", "a", "https://greedy");
  Submit("/modest", "a", "https://modest");
  for (size_t i = 0; i < 2; ++i) {
    const std::string target = network_.codec(i).added().back();
    Finish(i, target);
    network_.codec(i).Vanish();
    loop_.RunReady();
  }
  ASSERT_EQ(network_.size(), 6u);
  EXPECT_THAT(network_.codec(4).added(), ElementsAre("/greedy/1"));
  EXPECT_THAT(network_.codec(5).added(), ElementsAre("/modest"));
}

TEST_F(ConnectionBudgetTest, RequestsWaitWhileAnotherConnectionWorks) {
  options_.streams_per_connection = 2;  // one, and one for the probe
  UseNewBudget(2);
  Connect(1);
  Submit("/runs");
  Submit("/fails");
  Submit("/waits");
  ASSERT_EQ(network_.size(), 2u);
  ASSERT_THAT(network_.codec(1).added(), ElementsAre("/fails"));
  network_.FailConnecting(absl::UnavailableError("out of ports"));
  network_.codec(1).End("/fails", {.status = absl::UnavailableError("no connection")});
  EXPECT_TRUE(absl::IsUnavailable(ends_["/fails"]));
  EXPECT_EQ(ends_.count("/waits"), 0u);
}

// Otherwise two busy pools would close each other's connections by turns.
TEST_F(ConnectionBudgetTest, AnIdleConnectionMakesRoomOnlyForAPoolWithFewer) {
  options_.streams_per_connection = 2;  // one, and one for the probe
  Connect(2);
  Submit("/b/1", "a", "https://b");
  Submit("/b/2", "a", "https://b");
  ASSERT_EQ(network_.size(), 4u);
  const auto waits = Submit("/b/3", "a", "https://b");
  EXPECT_EQ(network_.size(), 4u) << "it has as many";
  waits->Cancel();
  loop_.RunReady();
  Submit("/c", "a", "https://c");
  ASSERT_EQ(network_.size(), 5u);
  EXPECT_THAT(network_.codec(4).added(), ElementsAre("/c"));
  EXPECT_EQ(budget_->connections(), 4u);
}

// Over HTTP/1.1 a connection is one place. Base, which renews the Lease, gets no preference.
TEST_F(ConnectionBudgetTest, GreedyComponentsLeavePlacesForTheNext) {
  options_.streams_per_connection = 2;  // one, and one for the probe
  UseNewBudget(64);
  const std::vector<std::string> components = {"a", "b", "c", "d", "e", "f"};
  for (const std::string& component : components) {
    for (int i = 0; i < 80; ++i) Post("/" + component + "/" + std::to_string(i), component);
    loop_.RunReady();
  }
  std::map<std::string, int> placed;
  for (size_t i = 0; i < network_.size(); ++i) {
    for (const std::string& target : network_.codec(i).added()) ++placed[target.substr(1, 1)];
  }
  for (const std::string& component : components) EXPECT_GE(placed[component], 1) << component;
  EXPECT_GT(placed["a"], 30);
}

class FullConnectionTest : public ConnectionBudgetTest {
 protected:
  // Three requests run, and a fourth found no room, because of the server's limit or a GOAWAY.
  void Fill() {
    Connect(1);
    for (const char* target : {"/a", "/b", "/c", "/d"}) Submit(target);
    for (const char* target : {"/a", "/b", "/c"}) network_.codec(0).Send(target);
    network_.codec(0).End("/d", kRefused);
    loop_.RunReady();
    ASSERT_EQ(network_.size(), 2u);
    EXPECT_THAT(network_.codec(1).added(), ElementsAre("/d"));
  }
};

TEST_F(FullConnectionTest, IsClosedAfterTheDrainTimeout) {
  Fill();
  loop_.RunFor(options_.drain_timeout - absl::Milliseconds(1));
  EXPECT_EQ(ends_.count("/a"), 0u);
  loop_.RunFor(absl::Milliseconds(1));
  EXPECT_EQ(ends_["/a"].code(), absl::StatusCode::kUnavailable) << ends_["/a"];
}

TEST_F(FullConnectionTest, StaysOpenIfItTakesARequestAgain) {
  Fill();
  loop_.RunFor(options_.drain_timeout / 2);
  Finish(0, "/b");
  Finish(0, "/c");
  loop_.RunReady();
  Submit("/e");
  ASSERT_TRUE(network_.codec(0).Has("/e"));
  network_.codec(0).Send("/e");
  loop_.RunFor(options_.drain_timeout);
  EXPECT_EQ(ends_.count("/a"), 0u);
  EXPECT_EQ(ends_.count("/e"), 0u);
}

}  // namespace
}  // namespace mandate
