#include "controllers/access_observer/access_observer.h"

#include <string>
#include <vector>

#include "controllers/access_observer/held_roles.h"
#include "controllers/access_observer/testing_observer.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "manager/core/strings.h"
#include "manager/object/kinds/rbac_v1.h"

namespace mandate::access {
namespace {

// The subjects of a RoleBinding are not held, as they may be many.
TEST_F(AccessObserverTest, ABindingConcernsItsNamespace) {
  StartObserver();
  PutBinding(Bind<RoleBinding>("a", "b", "r", "memcached"));
  EXPECT_EQ(Hints(), "all@a:100,1100");
  PutBinding(Bind<RoleBinding>("a", "b", "r", "bar"));
  EXPECT_EQ(Hints(), "all@a:100,1100");
  cache_.Remove(KindOf<BoundRole>::value, {"a", "b"});
  EXPECT_EQ(Hints(), "all@a:100,1100");
}

TEST_F(AccessObserverTest, AClusterBindingConcernsItsSubjects) {
  StartObserver();
  cache_.Put(Bind<ClusterRoleBinding>("", "b", "r", "bar"));
  EXPECT_EQ(Hints(), "bar@*:100,1100");
  cache_.Put(Bind<ClusterRoleBinding>("", "strangers", "r", "somebody"));
  EXPECT_EQ(Hints(), "");
  cache_.Put(Bind<ClusterRoleBinding>("", "b", "r", "memcached"));
  EXPECT_EQ(Hints(), "bar@*:100,1100 memcached@*:100,1100") << "one gets it, one loses it";
  cache_.Remove(KindOf<ClusterRoleBinding>::value, {"", "b"});
  EXPECT_EQ(Hints(), "memcached@*:100,1100");
}

TEST_F(AccessObserverTest, AGroupConcernsAllInIt) {
  StartObserver();
  ClusterRoleBinding binding = Bind<ClusterRoleBinding>("", "b", "r", "somebody");
  binding.mutable_subjects(0)->set_kind("Group");
  binding.mutable_subjects(0)->set_name("system:serviceaccounts:system");
  cache_.Put(binding);
  EXPECT_EQ(Hints(), "bar@*:100,1100 memcached@*:100,1100");
}

// The role's bindings say whom it concerns.
TEST_F(AccessObserverTest, ARoleConcernsThoseWhomItIsBoundTo) {
  PutBinding(Bind<RoleBinding>("a", "one", "reader", "memcached"));
  PutBinding(Bind<RoleBinding>("b", "one", "reader", "memcached", "Role"));
  PutBinding(Bind<RoleBinding>("b", "other", "writer", "bar", "Role"));
  cache_.Put(Bind<ClusterRoleBinding>("", "one", "reader", "bar"));
  StartObserver();
  PutRole<Role>("b", "reader");
  EXPECT_EQ(Hints(), "all@b:100,1100");
  PutRole<Role>("a", "reader");
  EXPECT_EQ(Hints(), "") << "it is bound to a ClusterRole of that name there";
  PutRole<ClusterRole>("", "reader");
  EXPECT_EQ(Hints(), "all@a:100,1100 bar@*:100,1100");
  cache_.Remove(KindOf<ClusterRolePlace>::value, {"", "reader"});
  EXPECT_EQ(Hints(), "all@a:100,1100 bar@*:100,1100");
  PutRole<ClusterRole>("", "unbound");
  EXPECT_EQ(Hints(), "");
}

// Names that are held as digests.
TEST_F(AccessObserverTest, ARoleWithALongNameConcernsThoseWhomItIsBoundTo) {
  const std::string reader(1000, 'r');
  PutBinding(Bind<RoleBinding>("a", std::string(1000, 'b'), reader, "memcached"));
  PutBinding(Bind<RoleBinding>("b", "one", reader, "memcached", "Role"));
  cache_.Put(Bind<ClusterRoleBinding>("", "one", reader, "bar"));
  StartObserver();
  PutRole<Role>("b", reader);
  EXPECT_EQ(Hints(), "all@b:100,1100");
  PutRole<ClusterRole>("", reader);
  EXPECT_EQ(Hints(), "all@a:100,1100 bar@*:100,1100");
  cache_.Remove(KindOf<ClusterRolePlace>::value, {"", HeldName(reader)});
  EXPECT_EQ(Hints(), "all@a:100,1100 bar@*:100,1100");
  PutRole<ClusterRole>("", reader + "x");
  EXPECT_EQ(Hints(), "");
}

// A permission may have gone while nobody watched: what is listed does not show it.
TEST_F(AccessObserverTest, RemindsAllOnceAfterTheLists) {
  for (int i = 0; i < 100; ++i) {
    PutBinding(Bind<RoleBinding>("a", StrCat("b", i), "reader", "memcached"));
  }
  PutRole<ClusterRole>("", "reader");
  Start(MakeController(component_));
  EXPECT_EQ(Hints(), "*@*:1000");
  EXPECT_THAT(hints_.TakeReminders(), ::testing::ElementsAre(100));
}

// A list that was read later says nothing about what was before.
TEST_F(AccessObserverTest, RemindsAgainAfterALaterList) {
  PutBinding(Bind<RoleBinding>("a", "b", "reader", "memcached"));
  Deny(KindOf<ClusterRoleBinding>::value);
  StartObserver();
  cache_.Put(Bind<ClusterRoleBinding>("", "b", "r", "bar"));
  EXPECT_EQ(Hints(), "") << "it may not be read";
  cache_.SetState(KindOf<ClusterRoleBinding>::value, DemandState::kSynced, absl::OkStatus());
  EXPECT_NE(Hints().find("*@*:1000"), std::string::npos);
  EXPECT_THAT(hints_.TakeReminders(), ::testing::ElementsAre(100));
}

// A proof that was made between the two lists may be older than a change in the second list.
TEST_F(AccessObserverTest, RemindsOfWhatWasProvenBeforeTheLastList) {
  PutBinding(Bind<RoleBinding>("a", "b", "reader", "memcached"));
  Deny(KindOf<ClusterRoleBinding>::value);
  cache_.Put(Bind<ClusterRoleBinding>("", "b", "r", "bar"));
  Start(MakeController(component_));
  loop_.RunFor(absl::Milliseconds(500));
  cache_.SetState(KindOf<ClusterRoleBinding>::value, DemandState::kSynced, absl::OkStatus());
  EXPECT_EQ(Hints(), "*@*:1500");
  EXPECT_THAT(hints_.TakeReminders(), ::testing::ElementsAre(600));
}

// The last hint is always given a second after the last change, and changes do not put it off.
TEST_F(AccessObserverTest, ManyChangesAreFewHints) {
  StartObserver();
  for (int i = 0; i < 40; ++i) {
    PutBinding(Bind<RoleBinding>("a", StrCat("b", i), "r", "memcached"));
    loop_.RunFor(absl::Milliseconds(10));
  }
  loop_.RunFor(absl::Minutes(1));
  const std::vector<int64_t> times = hints_.times("all@a");
  ASSERT_GE(times.size(), 2u);
  EXPECT_LE(times.size(), 41u);
  EXPECT_LE(times.front(), 100);
  EXPECT_GE(times.back(), 390 + 1000);
  EXPECT_LE(times.back(), 400 + 1100);
}

// The first hint may have come before the second change.
TEST_F(AccessObserverTest, AChangeBetweenTheHintsGetsBoth) {
  StartObserver();
  PutBinding(Bind<RoleBinding>("a", "first", "r", "memcached"));
  loop_.RunFor(absl::Milliseconds(500));
  PutBinding(Bind<RoleBinding>("a", "second", "r", "memcached"));
  EXPECT_EQ(Hints(), "all@a:100,600,1600");
}

// A Role and its RoleBinding are often applied together. The authorizer may know neither of them
// yet when the second event comes.
TEST_F(AccessObserverTest, TwoChangesAtOnceGetTheFirstHintAfterItsDelay) {
  StartObserver();
  PutBinding(Bind<RoleBinding>("a", "first", "r", "memcached"));
  loop_.RunFor(absl::Milliseconds(10));
  PutBinding(Bind<RoleBinding>("a", "second", "r", "memcached"));
  loop_.RunFor(absl::Minutes(1));
  ASSERT_FALSE(hints_.times("all@a").empty());
  EXPECT_GE(hints_.times("all@a").front(), 100);
}

// Kinds that it may not read do not stop the hints of the others.
TEST_F(AccessObserverTest, WatchesWhatItMay) {
  Deny(KindOf<ClusterRoleBinding>::value);
  Deny(KindOf<ClusterRolePlace>::value);
  Deny(KindOf<RolePlace>::value);
  StartObserver();
  EXPECT_EQ(controller_->Ready(), absl::OkStatus());
  PutBinding(Bind<RoleBinding>("a", "b", "r", "memcached"));
  EXPECT_EQ(Hints(), "all@a:100,1100");
}

TEST_F(AccessObserverTest, NeedsSomebodyToHint) {
  component_.access_hints = nullptr;
  EXPECT_EQ(MakeController(component_).status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(AccessObserverTest, AChangeIsForgottenAfterItsHints) {
  AccessObserver observer(component_);
  const Request request = {{"a", ""}};
  observer.Note(request);
  absl::Duration wait;
  do {
    wait = Must(observer.Reconcile({}, request)).requeue_after;
    loop_.RunFor(wait);
  } while (wait > absl::ZeroDuration());
  EXPECT_EQ(Must(observer.Reconcile({}, request)).requeue_after, absl::ZeroDuration());
  EXPECT_EQ(Hints(), "all@a:100,1100") << "the request after them gives none";
}

}  // namespace
}  // namespace mandate::access
