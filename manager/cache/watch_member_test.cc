#include "manager/cache/watch_member.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "manager/cache/testing/recording_sink.h"
#include "manager/cache/testing/watch_json.h"
#include "manager/client/testing/fake_rest_client.h"
#include "manager/core/testing/log_capture.h"
#include "manager/core/testing/simulated_loop.h"

namespace mandate {
namespace {

class WatchMemberTest : public testing::Test {
 protected:
  std::unique_ptr<WatchMember> Join(ReadableScope::Indexes indexes = {}) {
    return std::make_unique<WatchMember>(
        WatchMember::Config{.component = component_,
                            .scope = std::make_shared<ReadableScope>(spec_, std::move(indexes)),
                            .store = store_,
                            .slice = 10,
                            .proof = {.spec = spec_,
                                      .version = [] { return std::string(); },
                                      .options = {},
                                      .random = random_,
                                      .counts = component_.counts,
                                      .probes = probes_,
                                      .flows = [] { return ProbeBudget::Flows(); },
                                      .on_change = [] {}},
                            .log = Logger(log_, loop_.clock())});
  }

  const DemandSpec spec_{kWidget, "", ""};
  SimulatedLoop loop_;
  Metrics metrics_;
  FakeRestClient client_{loop_, "a"};
  WatchComponent component_{client_, AccessMetrics(metrics_, "a"),
                            std::make_shared<WaitSet>(loop_)};
  std::mt19937_64 random_{1};
  ProbeBudget probes_{{.per_second = 5, .burst = 20}, loop_, metrics_};
  std::shared_ptr<ObjectStore> store_ = std::make_shared<ObjectStore>();
  std::shared_ptr<LogCapture> log_ = std::make_shared<LogCapture>();
};

// Others may keep the store for months.
TEST_F(WatchMemberTest, TheStoreHasItsIndexesWhileItIsAMember) {
  const auto index = std::make_shared<const IndexDefinition>(
      IndexDefinition{kWidget, "label", IndexByLabel("label")});
  auto member = Join({index});
  EXPECT_TRUE(store_->ReadBy(*index, "x", "").ok());
  member.reset();
  EXPECT_EQ(store_->ReadBy(*index, "x", "").status().code(), absl::StatusCode::kUnavailable);
}

TEST_F(WatchMemberTest, AReasonIsLoggedOnceWhileAStateLasts) {
  const auto member = Join();
  const auto see = [&](DemandState state, const absl::Status& reason) {
    member->Update({state, reason, /*failed=*/true}, /*is_sponsor=*/true, /*filled=*/false);
  };
  for (int outage = 1; outage <= 3; ++outage) {
    for (int i = 0; i < 5; ++i) {
      see(DemandState::kPending, absl::UnavailableError("connection refused"));
      see(DemandState::kPending, absl::ResourceExhaustedError("too many requests"));
    }
    EXPECT_EQ(log_->Count("connection refused"), outage);
    EXPECT_EQ(log_->Count("too many requests"), outage);
    see(DemandState::kKindAbsent, absl::NotFoundError("404"));
    EXPECT_EQ(log_->Count("404"), outage);
  }
}

TEST_F(WatchMemberTest, ItsFlowsAreThoseOfAllItsDemands) {
  const auto member = Join();
  std::vector<std::shared_ptr<RecordingSink>> sinks;
  for (const char* flow : {"one", "other"}) {
    sinks.push_back(std::make_shared<RecordingSink>());
    sinks.back()->SetFlows({flow});
    member->Add(std::make_shared<DemandFeed>(sinks.back()));
  }
  EXPECT_EQ(member->Flows(), (std::set<std::string>{"one", "other"}));
}

}  // namespace
}  // namespace mandate
