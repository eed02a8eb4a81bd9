#include "controllers/access_observer/watch_check.h"

#include <vector>

#include "controllers/access_observer/held_roles.h"
#include "controllers/access_observer/testing_observer.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "manager/cache/namespaced_view.h"

namespace mandate::access {
namespace {

class WatchCheckTest : public AccessObserverTest {
 protected:
  // Each cluster has some.
  void StartWatched() {
    PutRole<ClusterRole>("", "admin");
    StartObserver();
  }
  // How often all components were reminded in 100 s.
  size_t Reminders() {
    hints_.TakeReminders();
    loop_.RunFor(absl::Seconds(100));
    return hints_.TakeReminders().size();
  }
};

// As by a tenant with many large RoleBindings: nobody learns of a revocation otherwise.
TEST_F(WatchCheckTest, WithoutAWatchAllProveTheirAccessNowAndThen) {
  StartWatched();
  EXPECT_EQ(Reminders(), 0u);
  cache_.SetState(KindOf<BoundRole>::value, DemandState::kPending,
                  absl::ResourceExhaustedError("the watches hold too much"));
  EXPECT_GE(Reminders(), 3u);
  cache_.SetState(KindOf<BoundRole>::value, DemandState::kSynced, absl::OkStatus());
  Reminders();
  EXPECT_EQ(Reminders(), 0u);
}

TEST_F(WatchCheckTest, ABrokenWatchAndItsEndAreLoggedOnce) {
  StartWatched();
  cache_.SetState(KindOf<BoundRole>::value, DemandState::kStale, absl::UnavailableError("refused"));
  EXPECT_GE(Reminders(), 3u);
  EXPECT_EQ(log_->Count("A watch of RBAC objects is not live"), 1);
  cache_.SetState(KindOf<BoundRole>::value, DemandState::kSynced, absl::OkStatus());
  Reminders();
  Reminders();
  EXPECT_EQ(log_->Count("Changes of RBAC objects give hints again"), 1);
}

TEST_F(WatchCheckTest, EachKindCounts) {
  StartWatched();
  for (const KindInfo& kind : {KindOf<ClusterRoleBinding>::value, KindOf<RolePlace>::value,
                               KindOf<ClusterRolePlace>::value}) {
    cache_.SetState(kind, DemandState::kStale, absl::UnavailableError("connection refused"));
    EXPECT_GE(Reminders(), 3u) << kind.kind;
    cache_.SetState(kind, DemandState::kSynced, absl::OkStatus());
    Reminders();
  }
}

TEST_F(WatchCheckTest, AWatchThatNeverBeganIsReplaced) {
  cache_.SetState(KindOf<BoundRole>::value, DemandState::kPending,
                  absl::ResourceExhaustedError("the watches hold too much"));
  StartWatched();
  EXPECT_GE(Reminders(), 3u);
}

TEST_F(WatchCheckTest, AKindThatMayNotBeReadIsNotReplaced) {
  Deny(KindOf<BoundRole>::value);
  StartWatched();
  EXPECT_EQ(Reminders(), 0u);
}

// Only the watches that it has: there is none of the namespace "default".
class NamespacedWatchCheckTest : public WatchCheckTest {
 protected:
  NamespacedWatchCheckTest() {
    PutRole<ClusterRole>("", "admin");
    Start(MakeController(namespaced_));
    loop_.RunFor(absl::Minutes(1));
  }

  NamespacedView view_{cache_, {"a", "b"}};
  Component namespaced_{
      kAccessObserver,
      client_,
      events_,
      {"access-observer", loop_, pool_, view_, metrics_, Logger(log_, loop_.clock()), 1},
      "system",
      &hints_};
};

TEST_F(NamespacedWatchCheckTest, TheWatchesOfItsNamespacesCount) {
  EXPECT_EQ(Reminders(), 0u);
  cache_.SetState(DemandSpec{KindOf<BoundRole>::value, "b", ""}, DemandState::kPending,
                  absl::ResourceExhaustedError("the watches hold too much"));
  EXPECT_GE(Reminders(), 3u);
}

// All proofs that are older than the check.
TEST_F(WatchCheckTest, WhatWasProvenBeforeIsProvenAgain) {
  StartWatched();
  cache_.SetState(KindOf<BoundRole>::value, DemandState::kPending,
                  absl::ResourceExhaustedError("the watches hold too much"));
  loop_.RunFor(absl::Minutes(1));
  const std::vector<int64_t> given = hints_.times("*@*");
  EXPECT_THAT(hints_.TakeReminders(), ::testing::ElementsAreArray(given));
}

}  // namespace
}  // namespace mandate::access
