// A controller that is warm before it starts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "manager/controller/testing/controller_fixture.h"

namespace mandate {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class ControllerWarmUpTest : public ControllerTest {
 protected:
  ControllerWarmUpTest() { controller_options_.warm_up = true; }
  void WarmUp() {
    auto controller = Controller::Create(OptionsOf({Reconciled(kLease)}));
    ASSERT_TRUE(controller.ok()) << controller.status();
    controller_ = *std::move(controller);
    controller_->WarmUp();
    loop_.RunFor(absl::Seconds(1));
  }
  void Put(const std::string& name) {
    PutLease(name);
    loop_.RunFor(absl::Seconds(1));
  }
  void Lead() {
    controller_->Start();
    loop_.RunFor(kMs);
  }
};

TEST_F(ControllerWarmUpTest, ReconcilesAtOnceWhenItStarts) {
  Put("first");
  WarmUp();
  EXPECT_EQ(cache_.demands().size(), 1u);
  EXPECT_EQ(controller_->Ready(), absl::OkStatus());
  Put("second");
  Put("first");
  loop_.RunFor(absl::Minutes(10));
  EXPECT_THAT(TakeNames(), IsEmpty()) << "it does not lead";
  EXPECT_EQ(controller_->Queue(10).ready, 2u);
  Lead();
  EXPECT_EQ(cache_.demands().size(), 1u) << "no demand is made again";
  EXPECT_THAT(TakeNames(), UnorderedElementsAre("first", "second"));
  Put("third");
  EXPECT_THAT(TakeNames(), ElementsAre("third"));
}

TEST_F(ControllerWarmUpTest, AStartWithinTheListWaitsForIt) {
  cache_.SetState(kLease, DemandState::kPending, absl::UnavailableError("down"));
  WarmUp();
  EXPECT_THAT(NotReady(), HasSubstr("leases"));
  Lead();
  loop_.RunFor(absl::Minutes(1));
  EXPECT_THAT(TakeNames(), IsEmpty());
  Put("a");
  cache_.SetState(kLease, DemandState::kSynced);
  loop_.RunFor(absl::Seconds(1));
  EXPECT_THAT(TakeNames(), ElementsAre("a"));
}

TEST_F(ControllerWarmUpTest, IsOnceAndBeforeTheStart) {
  WarmUp();
  controller_->WarmUp();
  Lead();
  controller_->WarmUp();
  loop_.RunFor(absl::Seconds(1));
  EXPECT_EQ(cache_.demands().size(), 1u);
  EXPECT_EQ(log_->Count("Warming up"), 1u);
  Put("a");
  EXPECT_THAT(TakeNames(), ElementsAre("a"));
}

// The fixture checks that nothing is left.
TEST_F(ControllerWarmUpTest, StopsWithoutAStart) {
  Put("a");
  WarmUp();
  Stop();
  EXPECT_THAT(TakeNames(), IsEmpty());
}

}  // namespace
}  // namespace mandate
