// Tests which changes of a demand enqueue its owners.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "manager/controller/demand_set.h"
#include "manager/controller/testing/controller_fixture.h"
#include "manager/core/strings.h"

namespace mandate {
namespace {

using testing::ElementsAre;

class DemandSetRequestsTest : public ControllerTest {
 protected:
  DemandSetRequestsTest() {
    demands_.Connect("scope", [this](const std::vector<Request>& requests) {
      longest_ = std::max(longest_, requests.size());
      for (const Request& request : requests) names_.push_back(request.key.name);
    });
  }

  void PutRole(const char* name, const char* app = "x") {
    Role role;
    role.mutable_metadata()->set_namespace_("foo");
    role.mutable_metadata()->set_name(name);
    (*role.mutable_metadata()->mutable_labels())["app"] = app;
    cache_.Put(role);
  }

  // Half of the owners select app=x, as the role "one" is then, and the others app=y.
  void PutRoleForHalfOf(size_t owners) {
    for (size_t i = 0; i < owners / 2; ++i) {
      demands_.Replace({{"", StrCat("x-", i)}, "1"}, {{roles_, *LabelSelector::Parse("app=x")}});
      demands_.Replace({{"", StrCat("y-", i)}, "1"}, {{roles_, *LabelSelector::Parse("app=y")}});
    }
    (void)SettleAndTake();
    PutRole("one");
    loop_.RunReady();
  }
  // The number of owners that were enqueued at least this often.
  size_t EnqueuedOwners(size_t times) {
    std::map<std::string, size_t> counts;
    for (const std::string& name : names_) ++counts[name];
    return static_cast<size_t>(
        std::ranges::count_if(counts, [&](const auto& count) { return count.second >= times; }));
  }

  size_t longest_ = 0;  // of the calls
  const DemandSpec roles_ = {kRole, "foo", ""};
  DemandSet demands_{Runtime()};
};

// They are known when the demand is synced: an owner of many objects gets one request.
TEST_F(DemandSetRequestsTest, TheObjectsOfANewDemandAreNoEvents) {
  for (const char* name : {"x", "y", "z"}) PutRole(name);
  demands_.Replace({{"", "a"}, "1"}, {{roles_}});
  EXPECT_THAT(SettleAndTake(), ElementsAre("a"));
  EXPECT_TRUE(demands_.Check({{"", "a"}, "1"}).ok());
}

// One tenant may have thousands of owners: their requests must not keep the loop from the events of
// others.
TEST_F(DemandSetRequestsTest, ManyOwnersAreEnqueuedInSlices) {
  constexpr size_t kOwners = 2000;
  for (const bool selected : {false, true}) {
    const LabelSelector selector = selected ? *LabelSelector::Parse("app=x") : LabelSelector();
    for (size_t i = 0; i < kOwners; ++i) {
      demands_.Replace({{"", StrCat("owner-", i)}, "1"}, {{roles_, selector}});
    }
    (void)SettleAndTake();
    longest_ = 0;
    PutRole("x");
    EXPECT_LE(names_.size(), 256u) << "the others follow in later turns";
    // More changes come before all owners are enqueued. Each owner is enqueued once for all of
    // them.
    for (int i = 0; i < 10; ++i) PutRole("y");
    loop_.RunReady();
    EXPECT_EQ(EnqueuedOwners(1), kOwners);
    EXPECT_LE(longest_, 256u);
    EXPECT_LE(names_.size(), 2 * kOwners) << "once for each event would be 22,000";
    names_.clear();
  }
}

// An owner may have been enqueued for the first event before the second event came.
TEST_F(DemandSetRequestsTest, AnEventDuringTheSlicesIsForAllOwners) {
  constexpr size_t kOwners = 2000;
  for (size_t i = 0; i < kOwners; ++i) {
    demands_.Replace({{"", StrCat("owner-", i)}, "1"}, {{roles_}});
  }
  (void)SettleAndTake();
  PutRole("x");
  ASSERT_TRUE(loop_.RunUntil([&] { return names_.size() >= kOwners / 2; }));
  PutRole("y");
  loop_.RunReady();
  EXPECT_EQ(EnqueuedOwners(2), kOwners);
}

// A change that concerns many owners is not told to those whom it does not concern.
TEST_F(DemandSetRequestsTest, TheSlicesOfAnEventHaveTheOwnersThatSelectTheObject) {
  PutRoleForHalfOf(800);
  EXPECT_EQ(EnqueuedOwners(1), 400u);
  EXPECT_TRUE(std::ranges::none_of(names_, [](auto& name) { return name.starts_with("y"); }));
  // Those who lose the object learn of it, too.
  names_.clear();
  PutRole("one", "y");
  loop_.RunReady();
  EXPECT_EQ(EnqueuedOwners(1), 800u);
}

TEST_F(DemandSetRequestsTest, TheOwnersOfTheLabelsBeforeAndAfterAChangeAreManyTogether) {
  PutRoleForHalfOf(400);
  names_.clear();
  longest_ = 0;
  PutRole("one", "y");
  loop_.RunReady();
  EXPECT_EQ(EnqueuedOwners(1), 400u);
  EXPECT_LE(longest_, 256u);
}

TEST_F(DemandSetRequestsTest, ManyOwnersLearnOfAStateInSlices) {
  constexpr size_t kOwners = 2000;
  for (size_t i = 0; i < kOwners; ++i) {
    demands_.Replace({{"", StrCat("owner-", i)}, "1"}, {{roles_}});
  }
  (void)SettleAndTake();
  longest_ = 0;
  cache_.SetState(kRole, DemandState::kStale, absl::UnavailableError("connection refused"));
  loop_.RunReady();
  EXPECT_EQ(EnqueuedOwners(1), kOwners);
  EXPECT_LE(longest_, 256u);
}

// An owner waits for the answer: it must learn that the first try failed.
TEST_F(DemandSetRequestsTest, AFirstTryThatFailsIsARequest) {
  cache_.SetStatus(kRole, {DemandState::kPending, absl::UnavailableError("opening"), false});
  demands_.Replace({{"", "a"}, "1"}, {{roles_}});
  (void)SettleAndTake();
  cache_.SetStatus(kRole, {DemandState::kPending, absl::ResourceExhaustedError("large"), true});
  EXPECT_THAT(SettleAndTake(), ElementsAre("a"));
}

}  // namespace
}  // namespace mandate
