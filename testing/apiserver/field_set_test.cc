#include "testing/apiserver/field_set.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "manager/object/json.h"
#include "testing/apiserver/field_merge.h"

namespace mandate::apiserver {
namespace {

using ::testing::ElementsAre;

Json::Value Json(std::string_view text) { return ParseJson(text).value(); }

// Of a built-in kind: the table's places.
Shape Plain() { return Shape::Of(ResourceType()); }

std::string Text(const FieldSet& set) { return WriteJson(set.ToJson()); }

TEST(FieldSetTest, IsWrittenAsFieldsV1) {
  const char* const text =
      R"({"f:data":{".":{},"f:a":{}},"f:metadata":{"f:finalizers":{"v:\"x/y\"":{}}}})";
  EXPECT_EQ(Text(FieldSet::FromJson(Json(text))), text);
}

TEST(FieldSetTest, KnowsWhatAConfigurationSays) {
  const struct {
    const char* object;
    const char* expected;
  } kCases[] = {
      {R"({"data":{"a":"1"}})", R"({"f:data":{"f:a":{}}})"},
      {R"({"data":{}})", R"({"f:data":{}})"},
      {R"({"subjects":[{"kind":"User"}]})", R"({"f:subjects":{}})"},
      {R"({"metadata":{"finalizers":["a/b"]}})",
       R"({"f:metadata":{"f:finalizers":{"v:\"a/b\"":{}}}})"},
      {R"({"metadata":{"ownerReferences":[{"uid":"u","name":"n"}]}})",
       R"({"f:metadata":{"f:ownerReferences":{"k:{\"uid\":\"u\"}":{}}}})"},
      {R"({"status":{"conditions":[{"type":"T","status":"True"}]}})",
       R"({"f:status":{"f:conditions":{"k:{\"type\":\"T\"}":{".":{},"f:status":{},"f:type":{}}}}})"},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(Text(FieldSet::Applied(Json(c.object), Plain())), c.expected);
  }
}

TEST(FieldSetTest, TellsWhatChanged) {
  const FieldChanges changes = Compare(Json(R"({"data":{"a":"1","b":"1"}})"),
                                       Json(R"({"data":{"a":"2","c":"1"}})"), Plain());
  EXPECT_EQ(Text(changes.changed), R"({"f:data":{"f:a":{},"f:c":{}}})");
  EXPECT_EQ(Text(changes.removed), R"({"f:data":{"f:b":{}}})");
  // A container that is new is told itself.
  EXPECT_EQ(Text(Compare(Json("{}"), Json(R"({"data":{"a":"1"}})"), Plain()).changed),
            R"({"f:data":{".":{},"f:a":{}}})");
}

TEST(FieldSetTest, NamesPathsForPeople) {
  const FieldSet set = FieldSet::FromJson(
      Json(R"({"f:status":{"f:conditions":{"k:{\"type\":\"T\"}":{"f:reason":{}}}}})"));
  EXPECT_THAT(set.Paths(), ElementsAre(R"(.status.conditions[type="T"].reason)"));
  EXPECT_THAT(FieldSet::FromJson(Json(R"({"f:a":{".":{},"f:b":{}},"f:c":{}})")).Paths(),
              ElementsAre(".a", ".c", ".a.b"))
      << "from the top down";
}

TEST(FieldSetTest, IsASet) {
  const FieldSet a = FieldSet::FromJson(Json(R"({"f:x":{"f:y":{},"f:z":{}}})"));
  const FieldSet b = FieldSet::FromJson(Json(R"({"f:x":{"f:y":{}},"f:w":{}})"));
  EXPECT_EQ(Text(a.Minus(b)), R"({"f:x":{"f:z":{}}})");
  EXPECT_EQ(Text(a.Intersection(b)), R"({"f:x":{"f:y":{}}})");
  EXPECT_EQ(Text(a.Union(b)), R"({"f:w":{},"f:x":{"f:y":{},"f:z":{}}})");
  EXPECT_TRUE(a.Minus(a).empty());
}

TEST(FieldMergeTest, MergesItemsByTheirKeys) {
  EXPECT_EQ(WriteJson(MergeFields(
                Json(R"({"status":{"conditions":[{"type":"A","reason":"x"},{"type":"B"}]}})"),
                Json(R"({"status":{"conditions":[{"type":"C"},{"type":"A","status":"True"}]}})"),
                Plain())),
            R"({"status":{"conditions":[{"reason":"x","status":"True","type":"A"},{"type":"B"},)"
            R"({"type":"C"}]}})");
}

TEST(FieldMergeTest, NullTakesAwayOnlyWhatIsOnePiece) {
  const Json::Value live =
      Json(R"({"metadata":{"labels":{"l":"1"}},"immutable":true,"rules":[1]})");
  const Json::Value merged = MergeFields(
      live, Json(R"({"metadata":{"labels":null},"immutable":null,"rules":null})"), Plain());
  EXPECT_EQ(WriteJson(merged),
            R"({"immutable":null,"metadata":{"labels":{"l":"1"}},"rules":null})");
}

TEST(FieldMergeTest, RemovesWhatNobodyKeeps) {
  const auto set = [](const char* text) { return FieldSet::FromJson(Json(text)); };
  EXPECT_EQ(WriteJson(RemoveFields(Json(R"({"data":{"a":"1","b":"2"}})"),
                                   set(R"({"f:data":{"f:a":{},"f:b":{}}})"),
                                   set(R"({"f:data":{"f:b":{}}})"), Plain())),
            R"({"data":{"b":"2"}})");
}

}  // namespace
}  // namespace mandate::apiserver
