// Maps run on the component's strand: a slow map delays the events of its component only.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "manager/controller/testing/controller_fixture.h"

namespace mandate {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class ControllerStrandTest : public ControllerTest {
 protected:
  // Waits in the map of an object named "slow" until Release().
  Source SlowRoles() {
    Source roles = Of(kRole);
    roles.handler = [this](const ObjectEvent& event, std::vector<Request>& requests) {
      mapped_.push_back(std::string(event.object->name()));
      if (event.object->name() == "slow") pool_.Await(release_);
      return EnqueueObject()(event, requests);
    };
    return roles;
  }
  void Release() { release_.Set(); }
  void After(absl::Duration time, std::function<void()> task) {
    loop_.PostAt(loop_.clock().TimeNow() + time, std::move(task));
  }

  Latch release_;
  std::vector<std::string> mapped_;
};

TEST_F(ControllerStrandTest, NoMapRunsInACallOfTheCache) {
  Start({SlowRoles()});
  PutRole("a");
  EXPECT_THAT(mapped_, IsEmpty());
  loop_.RunFor(absl::Seconds(1));
  EXPECT_THAT(mapped_, ElementsAre("a"));
  EXPECT_THAT(TakeNames(), ElementsAre("a"));
}

TEST_F(ControllerStrandTest, WorkersWaitUntilTheInitialListsAreMapped) {
  PutRole("slow");
  PutRole("b");
  After(absl::Minutes(5), [&] {
    EXPECT_THAT(mapped_, ElementsAre("b", "slow"));
    EXPECT_THAT(names_, IsEmpty());
    EXPECT_THAT(NotReady(), HasSubstr("initial lists"));
    Release();
  });
  Start({SlowRoles()});
  loop_.RunFor(absl::Minutes(10));
  EXPECT_THAT(TakeNames(), ElementsAre("b", "slow"));
  EXPECT_TRUE(controller_->Ready().ok()) << controller_->Ready();
}

TEST_F(ControllerStrandTest, ASlowMapDelaysItsComponentAndNoOther) {
  Metrics metrics;
  FakeCacheView view(loop_);
  std::vector<std::string> others;
  auto other =
      *Controller::Create({.name = "other",
                           .controller_context = {"other", loop_, pool_, view, metrics, {}, 2},
                           .sources = {Of(kLease)},
                           .reconciler = std::make_unique<FunctionReconciler>(
                               [&](const CallContext&, const Request& request) {
                                 others.push_back(request.key.name);
                                 return Result{};
                               }),
                           .controller = {}});
  other->Start();
  Start({Of(kLease), SlowRoles()});
  loop_.RunFor(absl::Seconds(1));

  After(absl::Seconds(1), [&] {
    PutLease("behind");
    Lease lease;
    lease.mutable_metadata()->set_name("of-another");
    view.Put(lease);
  });
  After(absl::Seconds(2), [&] {
    EXPECT_THAT(others, ElementsAre("of-another"));
    EXPECT_THAT(names_, IsEmpty());
    Release();
  });
  PutRole("slow");
  loop_.RunFor(absl::Seconds(5));
  EXPECT_THAT(TakeNames(), ElementsAre("slow", "behind"));
  EXPECT_TRUE(other->Stop(absl::InfiniteFuture()).ok());
}

// 100 changes of a few objects come while a map is slow. The number of waiting events is bounded.
// In the end each object's last state has been mapped, also that of a deleted object.
TEST_F(ControllerStrandTest, WaitingEventsAreBoundedAndNoneIsLost) {
  controller_options_.max_unmapped_events = 10;
  for (const char* name : {"a", "b", "gone"}) PutLease(name);
  StartAndSettle({Of(kLease), SlowRoles()});
  const absl::Time start = loop_.clock().TimeNow();
  double most = 0;
  for (int i = 0; i < 100; ++i) {
    loop_.PostAt(start + i * 50 * kMs, [&, i] {
      PutLease(i % 2 == 0 ? "a" : "b", std::to_string(i));
      most = std::max(most, Gauge("mandate_controller_waiting_events"));
    });
  }
  loop_.PostAt(start + absl::Seconds(4), [&] {
    cache_.Remove(kLease, {"", "gone"});
    PutLease("new");
  });
  loop_.PostAt(start + absl::Seconds(6), [&] {
    EXPECT_TRUE(absl::IsResourceExhausted(controller_->Ready())) << controller_->Ready();
    EXPECT_THAT(NotReady(), HasSubstr("slower than the events"));
    EXPECT_THAT(names_, IsEmpty());
    Release();
  });
  PutRole("slow");
  loop_.RunFor(absl::Minutes(1));
  EXPECT_GE(most, 9);
  EXPECT_LE(most, 11);  // the bound, and what is sent before the pause begins
  EXPECT_EQ(Counter("mandate_controller_source_pauses_total"), 1);
  EXPECT_EQ(TakeDistinctNames(), (std::set<std::string>{"a", "b", "gone", "new", "slow"}));
  EXPECT_TRUE(controller_->Ready().ok()) << controller_->Ready();
  EXPECT_EQ(Gauge("mandate_controller_waiting_events"), 0);
  EXPECT_EQ(log_->Count("Map functions are slower"), 1);

  PutLease("a", "after");
  EXPECT_THAT(SettleAndTake(), ElementsAre("a"));
}

// There is one of these events for each object, and they hold no data beside the cache's.
TEST_F(ControllerStrandTest, AnInitialListPausesNoSource) {
  controller_options_.max_unmapped_events = 2;
  PutLease("listed");
  cache_.SetState(kLease, DemandState::kPending);
  Start({Of(kLease), SlowRoles()});
  const absl::Time start = loop_.clock().TimeNow();
  loop_.PostAt(start + absl::Seconds(1), [&] {
    PutRole("a");
    PutRole("b");
  });
  loop_.PostAt(start + absl::Seconds(2), [&] { cache_.SetState(kLease, DemandState::kSynced); });
  loop_.PostAt(start + absl::Seconds(3), [&] { Release(); });
  PutRole("slow");
  loop_.RunFor(absl::Minutes(1));
  EXPECT_EQ(Counter("mandate_controller_source_pauses_total"), 1) << "of the roles";
  EXPECT_EQ(TakeDistinctNames(), (std::set<std::string>{"a", "b", "listed", "slow"}));
}

// A reconciler may have read a state that existed only during the pause. Its request follows, too.
TEST_F(ControllerStrandTest, AfterAPauseAllObjectsAreMapped) {
  controller_options_.max_unmapped_events = 10;
  for (int i = 0; i < 20; ++i) PutLease("old" + std::to_string(i));
  StartAndSettle({Of(kLease), SlowRoles()});
  After(absl::Seconds(1), [&] {
    for (int i = 0; i < 20; ++i) PutLease("new" + std::to_string(i));
  });
  After(absl::Seconds(2), [&] { Release(); });
  PutRole("slow");
  loop_.RunFor(absl::Minutes(1));
  EXPECT_EQ(TakeDistinctNames().size(), 41u);
}

// The strand is another thread. Between the event that fills the backlog and the pause it may map
// all waiting events.
TEST_F(ControllerStrandTest, APauseEndsAlsoWhenTheMapsHaveCaughtUpBeforeIt) {
  int pauses = 0;
  cache_.OnPause([&] {
    ++pauses;
    Wait(absl::Seconds(1));
  });
  controller_options_.max_unmapped_events = 2;
  StartAndSettle({Of(kLease)});
  PutLease("a");
  PutLease("b");
  loop_.RunFor(absl::Seconds(10));
  EXPECT_EQ(pauses, 1);
  EXPECT_TRUE(controller_->Ready().ok()) << controller_->Ready();
  TakeNames();
  PutLease("c");
  loop_.RunFor(absl::Seconds(10));
  EXPECT_THAT(TakeNames(), ElementsAre("c"));
}

TEST_F(ControllerStrandTest, StopWaitsForAMapUntilItsDeadline) {
  Start({SlowRoles()});
  absl::Status stopped;
  After(absl::Seconds(1), [&] {
    // The map waits in an outer frame of the same stack.
    stopped = controller_->Stop(loop_.clock().TimeNow() + absl::Seconds(5));
    Release();
  });
  PutRole("slow");
  PutRole("unmapped");
  loop_.RunFor(absl::Minutes(1));
  EXPECT_TRUE(absl::IsDeadlineExceeded(stopped)) << stopped;
  EXPECT_THAT(std::string(stopped.message()), HasSubstr("a map function was still running"));
  EXPECT_THAT(mapped_, ElementsAre("slow"));
}

}  // namespace
}  // namespace mandate
