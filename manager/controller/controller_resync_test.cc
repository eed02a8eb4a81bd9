// When a source can be read again, the changes of the meantime are reconciled.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "manager/controller/testing/controller_fixture.h"

namespace mandate {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

// A role concerns the leases whose holder has its name.
class ControllerResyncTest : public ControllerTest {
 protected:
  std::vector<Source> LeasesAndTheirRoles() { return {Of(kLease), RolesOfHolders()}; }
  void StartSettled() {
    Start(LeasesAndTheirRoles());
    Settle();
  }
  void Settle() {
    loop_.RunFor(absl::Seconds(5));
    TakeNames();
    map_calls_ = 0;
  }
  void LoseBoth() {
    Deny(kLease);
    Deny(kRole);
  }
  void LoseBothAndRegainLeases() {
    LoseBoth();
    cache_.SetState(kLease, DemandState::kSynced);
  }
};

TEST_F(ControllerResyncTest, ResyncsEventsWhoseMapCouldNotRead) {
  for (const DemandState lost :
       {DemandState::kForbidden, DemandState::kKindAbsent, DemandState::kPending}) {
    SCOPED_TRACE(ToString(lost));
    PutLease("a", "r");
    StartSettled();
    cache_.SetState(kLease, lost, absl::PermissionDeniedError("no"));
    PutRole("r");
    loop_.RunFor(absl::Hours(1));
    EXPECT_THAT(TakeNames(), IsEmpty());  // nothing failed either, so nothing is tried again
    cache_.SetState(kLease, DemandState::kSynced);
    EXPECT_THAT(SettleAndTake(), ElementsAre("a"));
    EXPECT_TRUE(controller_->Ready().ok()) << controller_->Ready();
    Stop();
    cache_.Remove(kRole, {"", "r"});
  }
}

// The deleted object is gone when the map can read again.
TEST_F(ControllerResyncTest, ResyncsDeletionsWhoseMapCouldNotRead) {
  PutLease("a", "r");
  PutRole("r");
  StartSettled();
  Deny(kLease);
  cache_.Remove(kRole, {"", "r"});
  loop_.RunFor(absl::Minutes(1));
  cache_.SetState(kLease, DemandState::kSynced);
  EXPECT_THAT(SettleAndTake(), ElementsAre("a"));
}

TEST_F(ControllerResyncTest, ReconcilesObjectsThatWereDeletedWhileForbidden) {
  PutLease("a", "r");
  PutLease("b", "r");
  StartSettled();
  Deny(kLease);
  cache_.Remove(kLease, {"", "a"});
  (void)SettleAndTake();
  cache_.SetState(kLease, DemandState::kSynced);
  EXPECT_THAT(SettleAndTake(), UnorderedElementsAre("a", "b"));
}

// This includes the objects of sources that could always be read.
TEST_F(ControllerResyncTest, ResyncsEverySource) {
  Source leases = Of(kLease);
  leases.handler = [](const ObjectEvent&, std::vector<Request>&) { return absl::OkStatus(); };
  std::vector<Source> sources = LeasesAndTheirRoles();
  sources[0] = leases;
  PutLease("a", "r");
  Start(sources);
  Settle();
  Deny(kLease);
  PutRole("r");
  loop_.RunFor(absl::Minutes(1));
  cache_.SetState(kLease, DemandState::kSynced);
  EXPECT_THAT(SettleAndTake(), ElementsAre("a"));
}

TEST_F(ControllerResyncTest, ResyncsOnceAfterAnOutageOfAllSources) {
  PutLease("a", "r");
  PutRole("r");
  StartSettled();
  LoseBoth();
  Settle();
  cache_.SetState(kLease, DemandState::kSynced);
  loop_.RunFor(absl::Milliseconds(300));
  EXPECT_THAT(TakeNames(), ElementsAre("a")) << "it comes as an add";
  EXPECT_EQ(map_calls_, 0);
  cache_.SetState(kRole, DemandState::kSynced);
  loop_.RunFor(absl::Minutes(1));
  EXPECT_EQ(map_calls_, 2) << "of the add, and of the pass";
  EXPECT_THAT(TakeNames(), ElementsAre("a"));
  EXPECT_EQ(log_->Count("Mapping all objects again"), 1);
}

TEST_F(ControllerResyncTest, ResyncsSoonAlthoughASourceStaysAway) {
  PutLease("a", "r");
  StartSettled();
  for (int outage = 1; outage <= 2; ++outage) {
    LoseBothAndRegainLeases();
    loop_.RunFor(absl::Seconds(2));
    EXPECT_THAT(TakeNames(), ElementsAre("a", "a")) << outage << ": the add, and the pass";
  }
}

// Its last known objects can be read, and missed changes come as events.
TEST_F(ControllerResyncTest, AStaleSourceIsNotResynced) {
  PutLease("a", "r");
  StartSettled();
  // It is not resynced after a time in which it could not be read, either.
  Deny(kLease);
  cache_.SetState(kLease, DemandState::kSynced);
  Settle();
  cache_.SetState(kLease, DemandState::kStale, absl::UnavailableError("connection refused"));
  PutRole("r");
  EXPECT_THAT(SettleAndTake(), ElementsAre("a"));
  cache_.SetState(kLease, DemandState::kSynced);
  loop_.RunFor(absl::Minutes(1));
  EXPECT_THAT(TakeNames(), IsEmpty());
}

// Whether or not another demand covers all objects of the kind.
TEST_F(ControllerResyncTest, ResyncsADemandForOneObject) {
  for (const bool with_all : {false, true}) {
    SCOPED_TRACE(with_all);
    PutLease("a");
    PutLease("b");
    Source source = Of(kLease);
    source.demand.name = "a";
    Start({source});
    auto all = with_all ? cache_.Demand({kLease, "", ""}, nullptr) : nullptr;
    Settle();
    cache_.SetState(source.demand, DemandState::kForbidden, absl::PermissionDeniedError("no"));
    cache_.SetState(source.demand, DemandState::kSynced);
    loop_.RunFor(absl::Seconds(5));
    EXPECT_THAT(TakeNames(), ElementsAre("a"));
    Stop();
  }
}

TEST_F(ControllerResyncTest, AStoppedControllerResyncsNothing) {
  PutLease("a", "r");
  StartSettled();
  LoseBothAndRegainLeases();
  Stop();
  loop_.RunFor(absl::Minutes(1));
  EXPECT_EQ(log_->Count("Mapping all objects again"), 0);
}

}  // namespace
}  // namespace mandate
