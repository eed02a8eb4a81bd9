// `kubectl delete --cascade=orphan`: the objects of an owner stay.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>

#include "controllers/scope/testing_fixture.h"

namespace mandate::scope {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

// Garbage collection needs time until it has orphaned the owned objects. In this test, delayed
// watches show that to the components: they see the deletion at once, the owned object without its
// owner 3 s later, and the end of the owner 2 s after that.
class OrphaningTest : public ScopedTest {
 protected:
  void SetUp() override {
    const std::pair<const char*, int> delays[] = {
        {"scopeinstances", 5}, {"scopetemplates", 5}, {"rolebindings", 3}, {"clusterroles", 3}};
    for (const auto& [resource, seconds] : delays) {
      cluster_.faults().Add({.verb = "watch",
                             .resource = resource,
                             .fault = {.frame_delay = absl::Seconds(seconds)}});
    }
    EXPECT_EQ(cluster_.Create(kTemplates, TemplateJson("foo", kAnn)), 201);
    EXPECT_EQ(cluster_.Create(kInstances, InstanceJson("foo", R"("namespaces": ["foo"])")), 201);
    cluster_.Start();
    cluster_.RunFor(absl::Minutes(5));
    ASSERT_EQ(cluster_.Scoped(), kSuccess);
    cluster_.TakeWrites();
  }
  // `then` happens at the same time as the deletion.
  void ExpectOrphaned(const Resource& owner, const Resource& owned, const std::string& ns,
                      const std::function<void()>& then) {
    const std::string name = NameOf(cluster_.Our(owned));
    // frame_delay delays a watch event after the event before it. The delay of the later events
    // counts from the event of this update.
    EXPECT_EQ(cluster_.Merge(owned, name, R"({"metadata":{"annotations":{"a":"b"}}})", ns), 200);
    EXPECT_EQ(cluster_.Delete(owner, "foo", "", kOrphaning), 200);
    then();
    cluster_.RunFor(absl::Minutes(1));
    EXPECT_TRUE(cluster_.Get(owner, "foo").isNull());
    EXPECT_FALSE(cluster_.Get(owned, name, ns).isNull());
    for (const std::string& write : cluster_.TakeWrites()) {
      EXPECT_FALSE(write.starts_with(StrCat("DELETE ", owned.plural))) << write;
    }
  }
};

TEST_F(OrphaningTest, BindingsAreLeftToGarbageCollection) {
  ExpectOrphaned(kInstances, kBindings, "foo", [] {});
}

// No instance references their template any more.
TEST_F(OrphaningTest, RolesAreLeftToGarbageCollection) {
  ExpectOrphaned(kTemplates, kRoles, "",
                 [this] { EXPECT_EQ(cluster_.Delete(kInstances, "foo"), 200); });
}

// The components see the result of garbage collection.
class SettledOrphaningTest : public ScopedTest {
 protected:
  void SetUp() override { Begin(R"("namespaces": ["foo"])"); }
};

TEST_F(SettledOrphaningTest, BindingsStay) {
  EXPECT_EQ(cluster_.Delete(kInstances, "foo", "", kOrphaning), 200);
  cluster_.Settle();
  EXPECT_TRUE(cluster_.Get(kInstances, "foo").isNull());
  EXPECT_EQ(cluster_.Ours(kBindings).size(), 1u);
}

TEST_F(SettledOrphaningTest, RolesStay) {
  EXPECT_EQ(cluster_.Delete(kTemplates, "foo", "", kOrphaning), 200);
  cluster_.Settle();
  EXPECT_TRUE(cluster_.Get(kTemplates, "foo").isNull());
  EXPECT_FALSE(cluster_.Our(kRoles)["metadata"].isMember("ownerReferences"));
  EXPECT_THAT(cluster_.Ours(kBindings), IsEmpty());
}

// The same if a finalizer keeps the owner after garbage collection has orphaned its objects.
TEST_F(SettledOrphaningTest, OrphansStayWhileFinalizersKeepTheirOwner) {
  const auto orphan = [this](const Resource& kind) {
    EXPECT_EQ(cluster_.Merge(kind, "foo", R"({"metadata":{"finalizers":["example.com/a"]}})"), 200);
    EXPECT_EQ(cluster_.Delete(kind, "foo", "", kOrphaning), 200);
    cluster_.RunFor(absl::Minutes(2));
  };
  orphan(kTemplates);
  EXPECT_FALSE(cluster_.Our(kRoles)["metadata"].isMember("ownerReferences"));
  EXPECT_THAT(cluster_.Templated(),
              AllOf(StartsWith("False TemplatingFailed"), HasSubstr("--cascade=orphan")));
  orphan(kInstances);
  EXPECT_FALSE(cluster_.Our(kBindings)["metadata"].isMember("ownerReferences"));
  EXPECT_THAT(cluster_.Scoped(),
              AllOf(StartsWith("False RevocationPending"), HasSubstr("--cascade=orphan")));
  EXPECT_FALSE(cluster_.Our(kRoles)["metadata"].isMember("ownerReferences"));
  EXPECT_THAT(cluster_.Templated(),
              AllOf(StartsWith("False RevocationPending"), HasSubstr("--cascade=orphan")));
  for (const auto& kind : {kInstances, kTemplates}) {
    EXPECT_EQ(cluster_.Merge(kind, "foo", R"({"metadata":{"finalizers":null}})"), 200);
    cluster_.Settle();
    EXPECT_TRUE(cluster_.Get(kind, "foo").isNull());
  }
  EXPECT_THAT(cluster_.Ours(kBindings), SizeIs(1));
  EXPECT_THAT(cluster_.Ours(kRoles), SizeIs(1));
}

}  // namespace
}  // namespace mandate::scope
