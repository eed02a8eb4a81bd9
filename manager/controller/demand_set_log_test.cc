// The lines that a DemandSet logs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "manager/controller/testing/demand_set_fixture.h"
#include "manager/core/strings.h"

namespace mandate {
namespace {

using testing::HasSubstr;

class DemandSetLogTest : public DemandSetFixture {};

// An owner need not report it.
TEST_F(DemandSetLogTest, ADenialAndItsEndAreLoggedOnce) {
  StartWithDemands();
  demands_->Replace(Owner("a"), {{RolesOf("foo")}});
  demands_->Replace(Owner("b"), {{RolesOf("foo")}, {RolesOf("bar")}});
  (void)SettleAndTake();
  EXPECT_EQ(log_->Count("Demand"), 0);
  for (const char* why : {"no", "still"}) {
    cache_.SetState(RolesOf("foo"), DemandState::kForbidden, absl::PermissionDeniedError(why));
    (void)SettleAndTake();
  }
  EXPECT_EQ(log_->Count("Demand was denied"), 1);
  const std::string line = log_->Last("Demand was denied");
  EXPECT_THAT(line, HasSubstr(RolesOf("foo").ToString()));
  EXPECT_THAT(line, HasSubstr("no"));
  EXPECT_THAT(line, HasSubstr("component="));
  EXPECT_THAT(line, HasSubstr("controller="));
  cache_.SetState(RolesOf("foo"), DemandState::kPending, absl::UnavailableError("opening"));
  cache_.SetState(RolesOf("foo"), DemandState::kSynced);
  cache_.SetState(RolesOf("foo"), DemandState::kStale, absl::UnavailableError("cut"));
  cache_.SetState(RolesOf("foo"), DemandState::kSynced);
  EXPECT_EQ(log_->Count("Demand is synced again"), 1);
  EXPECT_EQ(log_->Count("Demand"), 2);
}

// One revocation may deny thousands of demands.
TEST_F(DemandSetLogTest, ManyDenialsAreFewLines) {
  StartWithDemands();
  std::vector<SelectedDemand> demands;
  for (int i = 0; i < 100; ++i) demands.push_back({RolesOf(StrCat("n", i))});
  demands_->Replace(Owner("a"), demands);
  (void)SettleAndTake();
  const auto deny = [&](int from, int to) {
    for (int i = from; i < to; ++i) {
      cache_.SetState(RolesOf(StrCat("n", i)), DemandState::kForbidden,
                      absl::PermissionDeniedError("no"));
    }
    (void)SettleAndTake();
  };
  deny(0, 50);
  EXPECT_EQ(log_->Count("Demand was denied"), 20);
  EXPECT_EQ(log_->Count("Many demands change their state"), 1);
  // They return one a second.
  loop_.RunFor(absl::Seconds(2));
  deny(50, 100);
  EXPECT_GE(log_->Count("Demand was denied"), 22);
  EXPECT_LE(log_->Count("Demand was denied"), 25);
  EXPECT_EQ(log_->Count("Many demands change their state"), 2);
}

}  // namespace
}  // namespace mandate
