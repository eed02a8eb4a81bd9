#include "controllers/scope/ownership.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "absl/strings/str_replace.h"
#include "controllers/scope/kinds.h"
#include "controllers/scope/testing_objects.h"

namespace mandate::scope {
namespace {

constexpr KindInfo kInstance = KindOf<operatorsv1alpha1::ScopeInstance>::value;
constexpr char kLabel[] = "uid-label";

// `rest` has more members of the object's metadata.
ObjectMetaProto Meta(std::string_view rest) {
  return FromJsonOrDie<ObjectMetaProto>(
      StrCat(R"({"name": "x")", rest.empty() ? "" : ", ", rest, "}"));
}

ObjectMetaProto Owner() { return Meta(R"("uid": "u1")"); }

TEST(BelongsToTest, TheControllerDecidesAndOnlyWithoutOneTheLabel) {
  const struct {
    const char* name;
    const char* metadata;
    bool belongs;
  } rows[] = {
      {"nothing", "", false},
      {"our label", R"("labels": {"uid-label": "u1"})", true},
      {"another's label", R"("labels": {"uid-label": "u2"})", false},
      {"an empty label", R"("labels": {"uid-label": ""})", false},
      {"our UID under another label", R"("labels": {"other": "u1"})", false},
      {"controlled by us", R"("ownerReferences": [{"uid": "u1", "controller": true}])", true},
      {"owned, not controlled", R"("ownerReferences": [{"uid": "u1"}])", false},
      {"owned, said not to be controlled",
       R"("ownerReferences": [{"uid": "u1", "controller": false}])", false},
      {"owned by anybody, with our label",
       R"("ownerReferences": [{"uid": "u2"}], "labels": {"uid-label": "u1"})", true},
      {"controlled by another", R"("ownerReferences": [{"uid": "u2", "controller": true}])", false},
      {"controlled by another, with our label",
       R"("ownerReferences": [{"uid": "u2", "controller": true}],
          "labels": {"uid-label": "u1"})",
       false},
      {"controlled by us, with another's label",
       R"("ownerReferences": [{"uid": "u1", "controller": true}],
          "labels": {"uid-label": "u2"})",
       true},
      {"controlled by our UID as another kind",
       R"("ownerReferences": [{"kind": "Foo", "apiVersion": "operators.coreos.com/v1", "uid": "u1",
                               "controller": true}], "labels": {"uid-label": "u1"})",
       false},
      {"controlled by our UID as a kind of another group",
       R"("ownerReferences": [{"kind": "ScopeInstance", "apiVersion": "operators.coreos.com.x/v1",
                               "uid": "u1", "controller": true}])",
       false},
      {"owned by us, controlled by another",
       R"("ownerReferences": [{"uid": "u1"}, {"uid": "u2", "controller": true}])", false},
      {"owned by another, controlled by us",
       R"("ownerReferences": [{"uid": "u2"}, {"uid": "u1", "controller": true}])", true},
  };
  for (const auto& row : rows) {
    // The kind is ScopeInstance unless the row has another one.
    const std::string metadata = absl::StrReplaceAll(
        row.metadata,
        {{R"({"uid")",
          R"({"kind": "ScopeInstance", "apiVersion": "operators.coreos.com/v1", "uid")"}});
    EXPECT_EQ(BelongsTo(Meta(metadata), kInstance, "u1", kLabel), row.belongs) << row.name;
  }
}

// An owner without a UID owns nothing, in particular no object without an owner.
TEST(BelongsToTest, OwnerWithoutUidOwnsNothing) {
  for (const char* metadata : {"", R"("labels": {"uid-label": ""})",
                               R"("ownerReferences": [{"uid": "", "controller": true}])"}) {
    EXPECT_FALSE(BelongsTo(Meta(metadata), kInstance, "", kLabel)) << metadata;
  }
}

// A message in the order of a hash map would change from one reconcile to the next.
TEST(LabelDifferenceTest, NamesTheFirstLabelByKey) {
  const struct {
    const char* name;
    const char* desired;
    const char* actual;
    bool exactly;
    const char* difference;
  } rows[] = {
      {"none", "", "", true, ""},
      {"the same", R"("labels": {"a": "1"})", R"("labels": {"a": "1"})", true, ""},
      {"all are missing", R"("labels": {"d": "1", "b": "1", "c": "1", "e": "1"})", "", false,
       "label b"},
      {"another value", R"("labels": {"d": "1", "b": "1", "c": "1"})",
       R"("labels": {"d": "2", "b": "1", "c": "2"})", false, "label c"},
      {"more", R"("labels": {"c": "1"})", R"("labels": {"c": "1", "b": "1", "a": "1"})", true,
       "label a"},
      {"more is allowed", R"("labels": {"c": "1"})", R"("labels": {"c": "1", "a": "1"})", false,
       ""},
      {"missing and more", R"("labels": {"b": "1"})", R"("labels": {"a": "1"})", true, "label a"},
  };
  for (const auto& row : rows) {
    // Each map has an order of its own.
    for (int i = 0; i < 20; ++i) {
      EXPECT_EQ(LabelDifference(Meta(row.desired), Meta(row.actual), row.exactly), row.difference)
          << row.name;
    }
  }
}

TEST(ControllerReferenceTest, HasAllFieldsForGarbageCollection) {
  ObjectMetaProto object;
  SetControllerReference(Owner(), kInstance, object);
  ASSERT_EQ(object.ownerreferences_size(), 1);
  const auto& reference = object.ownerreferences(0);
  EXPECT_EQ(reference.apiversion(), "operators.coreos.com/v1alpha1");
  EXPECT_EQ(reference.kind(), "ScopeInstance");
  EXPECT_EQ(reference.name(), "x");
  EXPECT_EQ(reference.uid(), "u1");
  EXPECT_TRUE(reference.controller());
  EXPECT_TRUE(reference.blockownerdeletion());
  EXPECT_TRUE(HasControllerReference(Owner(), kInstance, object));
  EXPECT_TRUE(BelongsTo(object, kInstance, "u1", kLabel));
}

TEST(ControllerReferenceTest, KeepsOtherOwners) {
  ObjectMetaProto object = Meta(R"("ownerReferences": [{"uid": "u2", "name": "other"}])");
  SetControllerReference(Owner(), kInstance, object);
  ASSERT_EQ(object.ownerreferences_size(), 2);
  EXPECT_EQ(object.ownerreferences(0).uid(), "u2");
  EXPECT_TRUE(HasControllerReference(Owner(), kInstance, object));
}

TEST(ControllerReferenceTest, DetectsEveryEdit) {
  using Reference = k8s::io::apimachinery::pkg::apis::meta::v1::OwnerReference;
  const struct {
    const char* name;
    std::function<void(Reference&)> edit;
    bool has;
  } rows[] = {
      {"none", [](Reference&) {}, true},
      {"uid", [](Reference& r) { r.set_uid("u2"); }, false},
      {"name", [](Reference& r) { r.set_name("y"); }, false},
      {"kind", [](Reference& r) { r.set_kind("ScopeTemplate"); }, false},
      {"version", [](Reference& r) { r.set_apiversion("operators.coreos.com/v1"); }, false},
      {"group", [](Reference& r) { r.set_apiversion("v1alpha1"); }, false},
      {"no controller", [](Reference& r) { r.set_controller(false); }, false},
      {"controller left out", [](Reference& r) { r.clear_controller(); }, false},
      {"does not block", [](Reference& r) { r.clear_blockownerdeletion(); }, false},
  };
  for (const auto& row : rows) {
    ObjectMetaProto object;
    SetControllerReference(Owner(), kInstance, object);
    row.edit(*object.mutable_ownerreferences(0));
    EXPECT_EQ(HasControllerReference(Owner(), kInstance, object), row.has) << row.name;
  }
  EXPECT_FALSE(HasControllerReference(Owner(), kInstance, ObjectMetaProto()));
}

TEST(OwnershipTest, DetectsOrphaningDeletion) {
  ObjectMetaProto object;
  object.add_finalizers("example.com/stay");
  EXPECT_FALSE(IsOrphaning(object));
  object.mutable_deletiontimestamp()->set_seconds(1);
  EXPECT_FALSE(IsOrphaning(object));
  object.add_finalizers("orphan");
  EXPECT_TRUE(IsOrphaning(object));
  object.clear_deletiontimestamp();
  EXPECT_FALSE(IsOrphaning(object)) << "anybody may write the finalizer";
}

TEST(OwnershipTest, DetectsOrphanedObjects) {
  ObjectMetaProto owner = Owner();
  ObjectMetaProto object;
  EXPECT_FALSE(MayBeOrphaned(object, owner)) << "the owner stays";
  owner.mutable_deletiontimestamp()->set_seconds(1);
  EXPECT_TRUE(MayBeOrphaned(object, owner));
  SetControllerReference(owner, kInstance, object);
  EXPECT_FALSE(MayBeOrphaned(object, owner));
  object.mutable_ownerreferences(0)->clear_controller();
  EXPECT_TRUE(MayBeOrphaned(object, owner));
}

}  // namespace
}  // namespace mandate::scope
