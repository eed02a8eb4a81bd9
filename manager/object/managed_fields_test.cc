#include "manager/object/managed_fields.h"

#include <gtest/gtest.h>

#include <string>

#include "google/protobuf/util/message_differencer.h"
#include "manager/core/testing/must.h"
#include "manager/object/kinds/core_v1.h"
#include "manager/object/object_codec.h"

namespace mandate {
namespace {

std::string WithoutInJson(const std::string& json) {
  return WithoutManagedFields(Must(ParseRawObject(json, Encoding::kJson)))->bytes();
}

TEST(ManagedFieldsTest, LeavesAllElseInJson) {
  const struct {
    const char* object;
    const char* without;
  } rows[] = {
      {R"({"metadata":{"name":"a"},"data":{"managedFields":"1"}})",
       R"({"metadata":{"name":"a"},"data":{"managedFields":"1"}})"},
      {R"({"metadata":{"managedFields":[{"a":"}"}],"name":"a"},"x":1.50})",
       R"({"metadata":{"name":"a"},"x":1.50})"},
      {R"({"a":1,"metadata":{"name":"a","managedFields":[]}})",
       R"({"a":1,"metadata":{"name":"a"}})"},
      {R"({"metadata":{"name":"a","managedFields":[{}],"labels":{"managedFields":"x"}},"b":2})",
       R"({"metadata":{"name":"a","labels":{"managedFields":"x"}},"b":2})"},
      {R"({ "metadata" : { "managedFields" : [ ] , "name" : "\u0061" } , "b" : 2 })",
       R"({ "metadata" : {"name" : "\u0061"} , "b" : 2 })"},
      {R"({"metadata":{"name":"a","managedFields":null}})", R"({"metadata":{"name":"a"}})"},
  };
  for (const auto& row : rows) EXPECT_EQ(WithoutInJson(row.object), row.without);
}

TEST(ManagedFieldsTest, LeavesAllElseInProtobuf) {
  corev1::ConfigMap object;
  object.mutable_metadata()->set_name("a");
  object.mutable_metadata()->set_namespace_("b");
  object.mutable_metadata()->set_uid("u");
  object.mutable_metadata()->set_resourceversion("7");
  (*object.mutable_metadata()->mutable_labels())["k"] = "v";
  (*object.mutable_data())["key"] = "value";
  const corev1::ConfigMap without = object;
  object.mutable_metadata()->add_managedfields()->set_manager("kubectl");
  object.mutable_metadata()->add_managedfields()->set_manager("mandate");
  const KindInfo kind = KindOf<corev1::ConfigMap>::value;
  const auto raw = [&](const corev1::ConfigMap& one) {
    return Must(
        ParseRawObject(Must(EncodeObject(one, kind, Encoding::kProtobuf)), Encoding::kProtobuf));
  };
  const auto stripped = WithoutManagedFields(raw(object));
  EXPECT_EQ(stripped->bytes(), raw(without)->bytes());
  EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(
      Must(stripped->Decode<corev1::ConfigMap>()), without));
  EXPECT_EQ(stripped->Key(), (ObjectKey{"b", "a"}));
  EXPECT_EQ(stripped->uid(), "u");
  EXPECT_EQ(stripped->resource_version(), "7");
}

TEST(ManagedFieldsTest, AnObjectWithoutThemStaysTheSame) {
  for (const char* json :
       {R"({"metadata":{"name":"a"}})", R"({"metadata":{"name":"a","uid":"u"}})"}) {
    const auto object = Must(ParseRawObject(json, Encoding::kJson));
    EXPECT_EQ(WithoutManagedFields(object), object);
  }
}

}  // namespace
}  // namespace mandate
