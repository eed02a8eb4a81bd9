// `kubectl delete --cascade=orphan`: what an owner had stays.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>

#include "controllers/scope/testing_fixture.h"

namespace mandate::scope {
namespace {

// Garbage collection takes time until it has orphaned what the object owned. Here it looks like
// that to the components: they see the deletion at once, the owned object without its owner 3 s
// later, and the end of the owner 2 s after that.
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
    // The delay is that between two events.
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

// Nobody references their template any more.
TEST_F(OrphaningTest, RolesAreLeftToGarbageCollection) {
  ExpectOrphaned(kTemplates, kRoles, "",
                 [this] { EXPECT_EQ(cluster_.Delete(kInstances, "foo"), 200); });
}

}  // namespace
}  // namespace mandate::scope
