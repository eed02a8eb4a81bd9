// The choice of a connection for a request, and the end of a connection, step by step.
#include "manager/transport/connection_budget.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "manager/transport/testing/connection_budget_fixture.h"

namespace mandate {
namespace {

using ::testing::ElementsAre;

const TransferResult kRefused = {.status = absl::UnavailableError("refused"),
                                 .refused = true,
                                 .unprocessed = true,
                                 .lost = true};

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
  options_.max_queued_requests = 4;
  Submit("/connects");
  for (int i = 0; i < 20; ++i) {
    Submit("/" + std::to_string(i))->Cancel();
    loop_.RunReady();
    EXPECT_TRUE(absl::IsCancelled(ends_["/" + std::to_string(i)])) << i;
  }
  EXPECT_EQ(network_.size(), 1u);
}

// /slow stays on the connection, and /next comes after `what`.
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
