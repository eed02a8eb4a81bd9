#include "controllers/access_observer/held_roles.h"

#include <gtest/gtest.h>

#include <string>

#include "manager/core/strings.h"
#include "manager/core/testing/must.h"
#include "manager/object/object_codec.h"

namespace mandate::access {
namespace {

using ObjectPtr = std::shared_ptr<const RawObject>;
using rbacv1::RoleBinding;

template <class Meta>
void Fill(Meta& metadata) {
  metadata.set_namespace_("team");
  metadata.set_name("reader");
  metadata.set_uid("the-uid");
  metadata.set_resourceversion("17");
  for (int i = 0; i < 1000; ++i) {
    metadata.add_finalizers(StrCat("example.com/", i));
    (*metadata.mutable_annotations())[StrCat("a", i)] = "text";
    (*metadata.mutable_labels())[StrCat("l", i)] = "text";
  }
}

template <class Message>
ObjectPtr Raw(const Message& message) {
  return Must(ParseRawObject(message.SerializeAsString(), Encoding::kProtobuf));
}

void ExpectSamePlace(const RawObject& held, const RawObject& whole) {
  EXPECT_EQ(held.ns(), whole.ns());
  EXPECT_EQ(held.name(), whole.name());
  EXPECT_EQ(held.uid(), whole.uid());
  EXPECT_EQ(held.resource_version(), whole.resource_version());
}

TEST(HeldRolesTest, OfALargeBindingOnlyItsPlaceAndItsRole) {
  RoleBinding binding;
  Fill(*binding.mutable_metadata());
  binding.mutable_roleref()->set_kind("ClusterRole");
  binding.mutable_roleref()->set_name("view");
  for (int i = 0; i < 1000; ++i) binding.add_subjects()->set_name(StrCat("user-", i));
  for (const Encoding encoding : {Encoding::kJson, Encoding::kProtobuf}) {
    const ObjectPtr whole = Must(ParseRawObject(Must(EncodeObject(binding, encoding)), encoding));
    const ObjectPtr held = OnlyRole(whole);
    ExpectSamePlace(*held, *whole);
    EXPECT_LT(held->size(), 100u);
    const RoleBinding part = Must(held->Decode<RoleBinding>());
    EXPECT_EQ(part.roleref().kind(), "ClusterRole");
    EXPECT_EQ(part.roleref().name(), "view");
    EXPECT_EQ(part.subjects_size(), 0);
  }
}

TEST(HeldRolesTest, OfALargeRoleOnlyItsPlace) {
  Metadata<rbacv1::Role>::Message role;
  Fill(*role.mutable_metadata());
  const ObjectPtr whole = Raw(role);
  const ObjectPtr held = OnlyPlace(whole);
  ExpectSamePlace(*held, *whole);
  EXPECT_LT(held->size(), 100u);
}

TEST(HeldRolesTest, OfALongNameItsDigest) {
  const std::string longest(253, 'n');
  EXPECT_EQ(HeldName("reader"), "reader");
  EXPECT_EQ(HeldName(longest), longest);
  const std::string held = HeldName(longest + "n");
  EXPECT_EQ(held.size(), 65u);
  EXPECT_EQ(held[0], '/') << "no object has this name";
  EXPECT_EQ(HeldName(held), held);
  EXPECT_NE(HeldName(longest + "m"), held);

  const std::string name(450'000, 'n'), role(450'000, 'r');
  RoleBinding binding;
  Fill(*binding.mutable_metadata());
  binding.mutable_metadata()->set_name(name);
  binding.mutable_roleref()->set_kind("Role");
  binding.mutable_roleref()->set_name(role);
  const ObjectPtr bound = OnlyRole(Raw(binding));
  EXPECT_LT(bound->size(), 300u);
  EXPECT_EQ(bound->name(), HeldName(name));
  EXPECT_EQ(bound->uid(), "the-uid");
  EXPECT_EQ(Must(bound->Decode<RoleBinding>()).roleref().name(), HeldName(role));

  Metadata<rbacv1::Role>::Message place;
  Fill(*place.mutable_metadata());
  place.mutable_metadata()->set_name(role);
  EXPECT_EQ(OnlyPlace(Raw(place))->name(), HeldName(role));
}

// Each is a kind of its own for the cache, with the permissions of the whole one.
TEST(HeldRolesTest, Kinds) {
  EXPECT_TRUE(SameResource(KindOf<BoundRole>::value, KindOf<RoleBinding>::value));
  EXPECT_FALSE(KindOf<BoundRole>::value == KindOf<RoleBinding>::value);
  EXPECT_TRUE(KindOf<RolePlace>::value.metadata_only);
  EXPECT_TRUE(KindOf<ClusterRolePlace>::value.metadata_only);
}

}  // namespace
}  // namespace mandate::access
