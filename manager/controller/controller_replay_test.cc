// What happened while a source was not readable is acted on when it returns.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "manager/controller/testing/controller_fixture.h"

namespace mandate {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// A role concerns the leases whose holder has its name.
class ControllerReplayTest : public ControllerTest {
 protected:
  std::vector<Source> LeasesAndTheirRoles() {
    Source roles = Of(kRole);
    roles.handler = EnqueueMap<Role>([this](const Role& role) {
      ++mapped_;
      std::vector<Request> requests;
      for (const auto& raw : cache_.ListLastKnown(kLease, "")) {
        const auto lease = raw->Decode<Lease>();
        if (lease->spec().holderidentity() == role.metadata().name()) {
          requests.push_back({raw->Key()});
        }
      }
      return requests;
    });
    return {Of(kLease), roles};
  }
  void Settle() {
    loop_.RunFor(absl::Seconds(5));
    TakeNames();
    mapped_ = 0;
  }
  void LoseBothAndRegainLeases() {
    for (const auto& kind : {kLease, kRole}) {
      cache_.SetState(kind, DemandState::kForbidden, absl::PermissionDeniedError("no"));
    }
    cache_.SetState(kLease, DemandState::kSynced);
  }

  int mapped_ = 0;  // calls of the map
};

TEST_F(ControllerReplayTest, AnEventWhoseMapCouldNotReadIsNotLost) {
  for (const DemandState lost :
       {DemandState::kForbidden, DemandState::kKindAbsent, DemandState::kPending}) {
    SCOPED_TRACE(ToString(lost));
    PutLease("a", "r");
    Start(LeasesAndTheirRoles());
    Settle();
    cache_.SetState(kLease, lost, absl::PermissionDeniedError("no"));
    PutRole("r");
    loop_.RunFor(absl::Hours(1));
    EXPECT_THAT(TakeNames(), IsEmpty());  // nothing failed either, so nothing is tried again
    cache_.SetState(kLease, DemandState::kSynced);
    loop_.RunFor(absl::Seconds(1));
    EXPECT_THAT(TakeNames(), ElementsAre("a"));
    EXPECT_TRUE(controller_->Ready().ok()) << controller_->Ready();
    EXPECT_TRUE(controller_->Stop(absl::InfiniteFuture()).ok());
    cache_.Remove(kRole, {"", "r"});
  }
}

// The object that the event was about is gone when the map could read again.
TEST_F(ControllerReplayTest, ADeletionWhoseMapCouldNotReadIsNotLost) {
  PutLease("a", "r");
  PutRole("r");
  Start(LeasesAndTheirRoles());
  Settle();
  cache_.SetState(kLease, DemandState::kForbidden, absl::PermissionDeniedError("no"));
  cache_.Remove(kRole, {"", "r"});
  loop_.RunFor(absl::Minutes(1));
  cache_.SetState(kLease, DemandState::kSynced);
  loop_.RunFor(absl::Seconds(1));
  EXPECT_THAT(TakeNames(), ElementsAre("a"));
}

// Neither of the two is the source that is read: the others are gone through as well.
TEST_F(ControllerReplayTest, TheMapsOfEverySourceAreAsked) {
  Source leases = Of(kLease);
  leases.handler = [](const ObjectEvent&, std::vector<Request>&) { return absl::OkStatus(); };
  std::vector<Source> sources = LeasesAndTheirRoles();
  sources[0] = leases;
  PutLease("a", "r");
  Start(sources);
  Settle();
  cache_.SetState(kLease, DemandState::kForbidden, absl::PermissionDeniedError("no"));
  PutRole("r");
  loop_.RunFor(absl::Minutes(1));
  cache_.SetState(kLease, DemandState::kSynced);
  loop_.RunFor(absl::Seconds(1));
  EXPECT_THAT(TakeNames(), ElementsAre("a"));
}

TEST_F(ControllerReplayTest, AnOutageOfAllIsReplayedOnce) {
  PutLease("a", "r");
  PutRole("r");
  Start(LeasesAndTheirRoles());
  Settle();
  for (const auto& kind : {kLease, kRole}) {
    cache_.SetState(kind, DemandState::kForbidden, absl::PermissionDeniedError("no"));
  }
  loop_.RunFor(absl::Minutes(1));
  cache_.SetState(kLease, DemandState::kSynced);
  loop_.RunFor(absl::Milliseconds(300));
  EXPECT_EQ(mapped_, 0);
  cache_.SetState(kRole, DemandState::kSynced);
  loop_.RunFor(absl::Minutes(1));
  EXPECT_EQ(mapped_, 1);
  EXPECT_THAT(TakeNames(), ElementsAre("a"));
  EXPECT_EQ(log_->Count("Mapping all objects again"), 1);
}

TEST_F(ControllerReplayTest, ASourceThatStaysAwayDelaysAReplayOnlyALittle) {
  PutLease("a", "r");
  Start(LeasesAndTheirRoles());
  Settle();
  for (int outage = 1; outage <= 2; ++outage) {
    LoseBothAndRegainLeases();
    loop_.RunFor(absl::Seconds(2));
    EXPECT_THAT(TakeNames(), ElementsAre("a")) << outage;
  }
}

// Its last known objects can be read, and what it missed comes as events.
TEST_F(ControllerReplayTest, AStaleSourceIsNotReplayed) {
  PutLease("a", "r");
  Start(LeasesAndTheirRoles());
  Settle();
  // Not even after it was not readable.
  cache_.SetState(kLease, DemandState::kForbidden, absl::PermissionDeniedError("no"));
  cache_.SetState(kLease, DemandState::kSynced);
  Settle();
  cache_.SetState(kLease, DemandState::kStale, absl::UnavailableError("connection refused"));
  PutRole("r");
  loop_.RunFor(absl::Seconds(1));
  EXPECT_THAT(TakeNames(), ElementsAre("a"));
  cache_.SetState(kLease, DemandState::kSynced);
  loop_.RunFor(absl::Minutes(1));
  EXPECT_THAT(TakeNames(), IsEmpty());
}

TEST_F(ControllerReplayTest, NewsGoBeforeAReplay) {
  for (int i = 0; i < 5; ++i) PutLease("old" + std::to_string(i));
  bool news = false;
  Start(LeasesAndTheirRoles());
  Settle();
  reconcile_ = [&](const CallContext&, const Request&) {
    if (!std::exchange(news, true)) {
      PutLease("news");
      Wait(5 * kMs);  // its event passes the strand
    }
    return Result{};
  };
  cache_.SetState(kLease, DemandState::kForbidden, absl::PermissionDeniedError("no"));
  cache_.SetState(kLease, DemandState::kSynced);
  loop_.RunFor(absl::Seconds(1));
  EXPECT_THAT(names_, ElementsAre("old0", "news", "old1", "old2", "old3", "old4"));
}

// Whether or not another demand covers all objects of the kind.
TEST_F(ControllerReplayTest, OneObjectOfManyIsDemanded) {
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
    EXPECT_TRUE(controller_->Stop(absl::InfiniteFuture()).ok());
  }
}

TEST_F(ControllerReplayTest, AStoppedControllerReplaysNothing) {
  PutLease("a", "r");
  Start(LeasesAndTheirRoles());
  Settle();
  LoseBothAndRegainLeases();
  EXPECT_TRUE(controller_->Stop(absl::InfiniteFuture()).ok());
  loop_.RunFor(absl::Minutes(1));
  EXPECT_EQ(log_->Count("Mapping all objects again"), 0);
}

}  // namespace
}  // namespace mandate
