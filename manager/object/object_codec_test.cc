#include "manager/object/object_codec.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "manager/object/envelope.h"
#include "manager/object/kinds/rbac_v1.h"

namespace mandate {
namespace {

rbacv1::ClusterRole MakeRole() {
  rbacv1::ClusterRole role;
  role.mutable_metadata()->set_name("r");
  for (const char* key : {"d", "b", "a", "c"}) {
    (*role.mutable_metadata()->mutable_labels())[key] = "x";
  }
  role.add_rules()->add_verbs("get");
  return role;
}

TEST(ObjectCodecTest, RoundTripsInBothEncodings) {
  for (Encoding encoding : {Encoding::kJson, Encoding::kProtobuf}) {
    const auto bytes = EncodeObject(MakeRole(), encoding);
    ASSERT_TRUE(bytes.ok()) << bytes.status();
    EXPECT_EQ(*bytes, *EncodeObject(MakeRole(), encoding));
    const auto role = DecodeObject<rbacv1::ClusterRole>(*bytes, encoding);
    ASSERT_TRUE(role.ok()) << role.status();
    EXPECT_EQ(*EncodeObject(*role, Encoding::kJson), *EncodeObject(MakeRole(), Encoding::kJson));
  }
}

TEST(ObjectCodecTest, NamesTheKind) {
  EXPECT_THAT(
      *EncodeObject(MakeRole(), Encoding::kJson),
      testing::StartsWith(R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole",)"));
  const std::string bytes = *EncodeObject(MakeRole(), Encoding::kProtobuf);
  const auto envelope = ParseEnvelope(bytes);
  ASSERT_TRUE(envelope.ok());
  EXPECT_EQ(envelope->api_version, "rbac.authorization.k8s.io/v1");
  EXPECT_EQ(envelope->kind, "ClusterRole");
}

TEST(ObjectCodecTest, TakesProtobufWithoutItsEnvelope) {
  const auto role =
      DecodeObject<rbacv1::ClusterRole>(MakeRole().SerializeAsString(), Encoding::kProtobuf);
  ASSERT_TRUE(role.ok()) << role.status();
  EXPECT_EQ(role->metadata().name(), "r");
}

TEST(ObjectCodecTest, KeepsUnknownProtobufFields) {
  rbacv1::ClusterRole newer = MakeRole();
  newer.GetReflection()->MutableUnknownFields(&newer)->AddLengthDelimited(999, "new");
  const auto role = DecodeObject<rbacv1::ClusterRole>(*EncodeObject(newer, Encoding::kProtobuf),
                                                      Encoding::kProtobuf);
  ASSERT_TRUE(role.ok());
  EXPECT_EQ(*EncodeObject(*role, Encoding::kProtobuf), *EncodeObject(newer, Encoding::kProtobuf));
}

TEST(ObjectCodecTest, RefusesWhatIsNeither) {
  EXPECT_EQ(DecodeObject<rbacv1::ClusterRole>("{}", Encoding::kProtobuf).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(DecodeObject<rbacv1::ClusterRole>("k8s", Encoding::kJson).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace mandate
