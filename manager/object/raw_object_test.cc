#include "manager/object/raw_object.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "manager/object/kinds/rbac_v1.h"

namespace mandate {
namespace {

rbacv1::Role MakeRole() {
  rbacv1::Role role;
  role.mutable_metadata()->set_namespace_("ns");
  role.mutable_metadata()->set_name("role");
  role.mutable_metadata()->set_uid("u");
  role.mutable_metadata()->set_resourceversion("9");
  (*role.mutable_metadata()->mutable_labels())["a"] = "b";
  role.add_rules()->add_verbs("get");
  return role;
}

TEST(RawObjectTest, HoldsAnObjectOfEitherEncoding) {
  for (Encoding encoding : {Encoding::kJson, Encoding::kProtobuf}) {
    const auto object = ParseRawObject(*EncodeObject(MakeRole(), encoding), encoding);
    ASSERT_TRUE(object.ok()) << object.status();
    EXPECT_EQ((*object)->ns(), "ns");
    EXPECT_EQ((*object)->name(), "role");
    EXPECT_EQ((*object)->uid(), "u");
    EXPECT_EQ((*object)->resource_version(), "9");
    EXPECT_EQ((*object)->Key(), KeyOf(MakeRole()));
    EXPECT_EQ((*object)->encoding(), encoding);
    EXPECT_EQ((*object)->Header().labels.at("a"), "b");
    const auto role = (*object)->Decode<rbacv1::Role>();
    ASSERT_TRUE(role.ok()) << role.status();
    EXPECT_EQ(role->SerializeAsString(), MakeRole().SerializeAsString());
  }
}

TEST(RawObjectTest, DropsTheEnvelope) {
  const auto object =
      ParseRawObject(*EncodeObject(MakeRole(), Encoding::kProtobuf), Encoding::kProtobuf);
  ASSERT_TRUE(object.ok());
  EXPECT_EQ((*object)->bytes(), MakeRole().SerializeAsString());
}

TEST(RawObjectTest, ViewsOutliveTheInput) {
  // The names are short enough to be stored inside std::string, and escaped: both move.
  std::string bytes = R"({"metadata":{"name":"n","namespace":"é\u003c"}})";
  const auto object = ParseRawObject(std::move(bytes), Encoding::kJson);
  ASSERT_TRUE(object.ok());
  bytes = std::string(64, 'x');
  EXPECT_EQ((*object)->name(), "n");
  EXPECT_EQ((*object)->ns(), "é<");
  EXPECT_EQ((*object)->uid(), "");
}

TEST(RawObjectTest, RefusesWhatIsNoObject) {
  for (const char* json :
       {"", "{}", "[]", R"({"metadata":{}})", R"({"metadata":{"name":""}})",
        R"({"metadata":{"name":"n"})", R"({"metadata":{"name":"n","labels":1}})"}) {
    EXPECT_EQ(ParseRawObject(json, Encoding::kJson).status().code(),
              absl::StatusCode::kInvalidArgument)
        << json;
  }
  const std::string bytes = MakeRole().SerializeAsString();
  EXPECT_FALSE(ParseRawObject(bytes.substr(0, bytes.size() - 1), Encoding::kProtobuf).ok());
  EXPECT_FALSE(ParseRawObject("", Encoding::kProtobuf).ok());
}

}  // namespace
}  // namespace mandate
