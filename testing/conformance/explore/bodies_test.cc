#include "testing/conformance/explore/bodies.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "manager/object/json.h"
#include "testing/conformance/explore/patches.h"
#include "testing/conformance/explore/reviews.h"

namespace mandate::conformance::explore {
namespace {

constexpr int kTimes = 20000;

TEST(BodiesTest, EveryKindComesUpAndTheFirstMost) {
  std::map<std::string, int> times;
  Dice dice(1);
  for (int i = 0; i < kTimes; ++i) ++times[PickResource(dice).plural];
  EXPECT_EQ(times.size(), 10u);
  for (const auto& [plural, count] : times) {
    EXPECT_LE(count, times["configmaps"]) << plural;
    EXPECT_GT(count, kTimes / 100) << plural;
  }
}

TEST(BodiesTest, ObjectsAreOfTheirKind) {
  Dice dice(2);
  for (int i = 0; i < kTimes; ++i) {
    const Resource& resource = PickResource(dice);
    const std::string name = PickName(resource, dice);
    EXPECT_EQ(name.starts_with("@{ns}-"), !resource.namespaced) << name;
    const Json::Value object = MakeObject(resource, name, dice);
    EXPECT_EQ(object["kind"], resource.kind);
    EXPECT_EQ(object["apiVersion"], resource.api_version);
    EXPECT_EQ(object["metadata"]["name"], name);
  }
}

// An object is disturbed several times, so members may already have any type.
TEST(BodiesTest, AnythingCanBeDisturbed) {
  Dice dice(3);
  std::set<std::string> metadata;
  for (int i = 0; i < kTimes; ++i) {
    const Resource& resource = PickResource(dice);
    Json::Value object = MakeObject(resource, "a", dice);
    for (size_t times = dice.Below(6); times > 0; --times) Disturb(resource, object, dice);
    if (!object["metadata"].isObject()) continue;
    for (const std::string& member : object["metadata"].getMemberNames()) metadata.insert(member);
  }
  for (const char* member :
       {"managedFields", "deletionTimestamp", "generateName", "selfLink", "uid", "resourceVersion",
        "ownerReferences", "generation", "unknown"}) {
    EXPECT_TRUE(metadata.contains(member)) << member;
  }
}

TEST(BodiesTest, GeneratedNamesDifferInMoreThanTheServersPart) {
  Dice dice(4);
  std::set<std::string> prefixes;
  for (int i = 0; i < 1000; ++i) prefixes.insert(MakeGenerateName(dice));
  EXPECT_GT(prefixes.size(), 990u);
}

TEST(PatchesTest, SomeAreObjectsAndSomeAreNone) {
  Dice dice(5);
  int objects = 0, lists = 0;
  for (int i = 0; i < 1000; ++i) {
    objects += MakeMergePatch(PickResource(dice), dice).isObject() ? 1 : 0;
    lists += MakeJsonPatch(dice).isArray() ? 1 : 0;
    EXPECT_EQ(MakeLabelSelector(dice).find(' '), std::string::npos) << "stands in a query";
  }
  EXPECT_GT(objects, 800);
  EXPECT_LT(objects, 1000);
  EXPECT_GT(lists, 900);
  EXPECT_LT(lists, 1000);
}

TEST(ReviewsTest, GoToTheirOwnResource) {
  Dice dice(6);
  std::set<std::string> targets;
  for (int i = 0; i < 1000; ++i) {
    const ReviewRequest review = MakeReview(dice);
    targets.insert(review.target);
    EXPECT_TRUE(review.target.starts_with("/apis/" + review.body["apiVersion"].asString() + "/"))
        << review.target;
  }
  EXPECT_EQ(targets.size(), 6u);
  bool bound = false, unbound = false;
  for (int i = 0; i < 100; ++i) {
    (MakeTokenRequest(dice)["spec"].isMember("boundObjectRef") ? bound : unbound) = true;
  }
  EXPECT_TRUE(bound && unbound);
}

}  // namespace
}  // namespace mandate::conformance::explore
