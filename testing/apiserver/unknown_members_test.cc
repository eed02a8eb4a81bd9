#include "testing/apiserver/unknown_members.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "manager/object/json.h"
#include "testing/apiserver/schema.h"

namespace mandate::apiserver {
namespace {

using ::testing::ElementsAreArray;

Json::Value Json(std::string_view text) { return ParseJson(text).value(); }

ResourceType Widget() {
  ResourceType type;
  type.name = {"example.com", "widgets"};
  type.version = "v1";
  type.kind = "Widget";
  type.schema = std::make_shared<Schema>(Json(R"({"type":"object","properties":{
    "spec":{"type":"object","properties":{
      "parts":{"type":"array","items":{"type":"object","properties":{"name":{"type":"string"}}}},
      "free":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}}})"));
  return type;
}

TEST(UnknownMembersTest, OfBuiltInKinds) {
  const Kinds kinds;
  const struct {
    const char* kind;
    const char* object;
    std::vector<std::string> unknown;
  } kCases[] = {
      {"ConfigMap", R"({"apiVersion":"v1","kind":"ConfigMap","data":{"any":"x"}})", {}},
      {"ConfigMap",
       R"({"spec":null,"metadata":{"x":{},"y":[],"name":""}})",
       {"metadata.x", "metadata.y", "spec"}},
      {"Secret",
       R"({"metadata":{"ownerReferences":[{"uid":"u"},{"x":1,"kind":"K"}]}})",
       {"metadata.ownerReferences[1].x"}},
      {"Secret",
       R"({"metadata":{"managedFields":[{"fieldsV1":{"f:any":{}}}],"creationTimestamp":"x"}})",
       {}},
      {"ServiceAccount", R"({"secrets":"x","metadata":1})", {}},
  };
  for (const auto& c : kCases) {
    EXPECT_THAT(UnknownMembers(Json(c.object), *kinds.OfKind("v1", c.kind)),
                ElementsAreArray(c.unknown))
        << c.object;
  }
}

TEST(UnknownMembersTest, OfCustomKinds) {
  const struct {
    const char* object;
    std::vector<std::string> unknown;
  } kCases[] = {
      {R"({"apiVersion":"example.com/v1","kind":"Widget","spec":{"free":{"any":1},"x":1,
           "parts":[{"y":{}}]},"metadata":{"z":0}})",
       {"metadata.z", "spec.parts[0].y", "spec.x"}},
      {R"({"apiVersion":"example.com/v2","kind":"Widget","spec":{},"metadata":{"z":0}})",
       {"metadata.z", "spec"}},
      {R"({"apiVersion":"v1","kind":"Widget","spec":{"x":1},"metadata":{"z":0}})", {"metadata.z"}},
      {R"({"kind":"Widget","spec":{"x":1},"metadata":{"z":0}})", {"metadata.z"}},
      {R"({"kind":"Other","spec":{"x":1},"metadata":{"z":0}})", {"metadata.z"}},
  };
  for (const auto& c : kCases) {
    EXPECT_THAT(UnknownMembers(Json(c.object), Widget()), ElementsAreArray(c.unknown)) << c.object;
  }
}

TEST(UnknownMembersTest, FollowsFieldValidation) {
  const Json::Value object = Json(R"({"apiVersion":"example.com/v1","kind":"Widget","a":1,"b":1})");
  std::vector<std::string> warnings;
  EXPECT_TRUE(CheckMembers(object, Widget(), "Ignore", warnings).ok());
  EXPECT_EQ(warnings.size(), 0);
  EXPECT_TRUE(CheckMembers(object, Widget(), "", warnings).ok());
  EXPECT_EQ(warnings.size(), 2);
  EXPECT_EQ(CheckMembers(object, Widget(), "Strict", warnings).message(),
            R"(Widget in version "v1" cannot be handled as a Widget: strict decoding error: )"
            R"(unknown field "a", unknown field "b")");
  EXPECT_EQ(
      CheckMembers(Json(R"({"kind":"Widget","metadata":{"z":0}})"), Widget(), "Strict", warnings)
          .message(),
      "Object 'apiVersion' is missing in 'object has no apiVersion field'");
}

}  // namespace
}  // namespace mandate::apiserver
