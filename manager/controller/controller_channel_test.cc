// Requests that come through a RequestChannel.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "manager/controller/request_channel.h"
#include "manager/controller/testing/controller_fixture.h"

namespace mandate {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class ControllerChannelTest : public ControllerTest {
 protected:
  absl::StatusOr<std::unique_ptr<Controller>> Create(std::vector<Source> sources) {
    Controller::Options options = OptionsOf(std::move(sources));
    options.channel = channel_;
    return Controller::Create(std::move(options));
  }
  bool Enqueue(const char* name, int priority = kDefaultPriority) {
    return channel_->Enqueue({{"", name}}, priority);
  }

  const std::shared_ptr<RequestChannel> channel_ = std::make_shared<RequestChannel>();
};

TEST_F(ControllerChannelTest, ARequestIsReconciledAsThatOfAnEvent) {
  PutLease("a");
  Start(Create({Of(kLease)}));
  EXPECT_THAT(SettleAndTake(), ElementsAre("a"));
  EXPECT_TRUE(Enqueue("a"));
  EXPECT_TRUE(Enqueue("of no object"));
  EXPECT_THAT(SettleAndTake(), ElementsAre("a", "of no object"));
  loop_.RunFor(absl::Hours(1));
  EXPECT_THAT(TakeNames(), IsEmpty());
}

TEST_F(ControllerChannelTest, RequestsBeforeTheStartWaitForIt) {
  EXPECT_FALSE(Enqueue("a")) << "no controller has the channel";
  PutLease("b");
  auto controller = Create({Of(kLease)});
  EXPECT_TRUE(Enqueue("a"));
  EXPECT_TRUE(Enqueue("a"));
  loop_.RunFor(absl::Seconds(1));
  EXPECT_THAT(TakeNames(), IsEmpty());
  Start(std::move(controller));
  EXPECT_THAT(SettleAndTake(), ElementsAre("a", "b")) << "merged, and before the initial list";
}

TEST_F(ControllerChannelTest, TheHigherPriorityGoesFirst) {
  auto controller = Create({Of(kLease)});
  EXPECT_TRUE(Enqueue("low", kLowPriority));
  EXPECT_TRUE(Enqueue("normal"));
  EXPECT_TRUE(Enqueue("high", kHighPriority));
  Start(std::move(controller));
  EXPECT_THAT(SettleAndTake(), ElementsAre("high", "normal", "low"));
}

TEST_F(ControllerChannelTest, AFullQueueRejects) {
  controller_options_.queue.max_items = 2;
  auto controller = Create({Of(kLease)});
  EXPECT_TRUE(Enqueue("a"));
  EXPECT_TRUE(Enqueue("b"));
  EXPECT_FALSE(Enqueue("c"));
  EXPECT_TRUE(Enqueue("b")) << "it is in the queue";
  Start(std::move(controller));
  EXPECT_THAT(SettleAndTake(), ElementsAre("a", "b"));
  EXPECT_TRUE(Enqueue("c"));
  EXPECT_THAT(SettleAndTake(), ElementsAre("c"));
}

TEST_F(ControllerChannelTest, AControllerMayHaveNoOtherSource) {
  EXPECT_EQ(Create({}).status(), absl::OkStatus());
  Start(Create({}));
  EXPECT_TRUE(controller_->Ready().ok()) << controller_->Ready();
  EXPECT_TRUE(Enqueue("a"));
  EXPECT_THAT(SettleAndTake(), ElementsAre("a"));
}

TEST_F(ControllerChannelTest, AfterTheStopNothingIsAdded) {
  Start(Create({Of(kLease)}));
  Stop();
  loop_.RunFor(absl::Seconds(1));
  EXPECT_FALSE(Enqueue("a"));
  controller_.reset();
  EXPECT_FALSE(Enqueue("a"));
  EXPECT_THAT(TakeNames(), IsEmpty());
}

// The reconciler has the channel, which must not keep the controller alive.
TEST_F(ControllerChannelTest, AReconcilerMayEnqueue) {
  reconcile_ = [this](const CallContext&, const Request& request) {
    const bool enqueued = request.key.name != "a" || Enqueue("b");
    EXPECT_TRUE(enqueued);
    return Result{};
  };
  Start(Create({Of(kLease)}));
  EXPECT_TRUE(Enqueue("a"));
  EXPECT_THAT(SettleAndTake(), ElementsAre("a", "b"));
}

}  // namespace
}  // namespace mandate
