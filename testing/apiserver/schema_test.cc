#include "testing/apiserver/schema.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "manager/core/strings.h"
#include "manager/object/json.h"

namespace mandate::apiserver {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Json::Value Json(std::string_view text) { return ParseJson(text).value(); }

Schema Things() {
  return Schema(Json(R"({"type":"object","required":["spec"],"properties":{"spec":{
      "type":"object","properties":{
        "size":{"type":"integer","minimum":1,"default":3},
        "mode":{"type":"string","enum":["a","b"]},
        "name":{"type":"string","minLength":2,"maxLength":4,"pattern":"^[a-z]+$"},
        "list":{"type":"array","maxItems":2,"items":{"type":"object","required":["k"],
          "properties":{"k":{"type":"string"}}},
          "x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"]},
        "any":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}}})"));
}

std::vector<std::string> Problems(std::string_view spec) {
  std::vector<std::string> out;
  for (const Cause& cause : Things().Validate(Json(StrCat(R"({"spec":)", spec, "}")))) {
    out.push_back(StrCat(cause.field, ": ", cause.message));
  }
  return out;
}

TEST(SchemaTest, ErrorsHaveTheServersMessages) {
  const struct {
    const char* spec;
    const char* problem;
  } kCases[] = {
      {R"({"size":0})",
       "spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1"},
      {R"({"size":"x"})",
       "spec.size: Invalid value: \"string\": spec.size in body must be of type integer: "
       "\"string\""},
      {R"({"mode":"c"})", "spec.mode: Unsupported value: \"c\": supported values: \"a\", \"b\""},
      {R"({"name":"a"})",
       "spec.name: Invalid value: \"a\": spec.name in body should be at least 2 chars long"},
      {R"({"name":"abcde"})", "spec.name: Too long: may not be more than 4 bytes"},
      {R"({"name":"AB"})",
       "spec.name: Invalid value: \"AB\": spec.name in body should match '^[a-z]+$'"},
      {R"({"list":[{}]})", "spec.list[0].k: Required value"},
      {R"({"list":[{"k":"a"},{"k":"a"}]})", "spec.list[1]: Duplicate value: {\"k\":\"a\"}"},
      {R"({"list":[{"k":"a"},{"k":"b"},{"k":"c"}]})",
       "spec.list: Too many: 3: must have at most 2 items"},
  };
  for (const auto& c : kCases) EXPECT_THAT(Problems(c.spec), ElementsAre(c.problem));
  EXPECT_THAT(Problems(R"({"size":2,"mode":"a","name":"abc","list":[{"k":"a"}]})"), IsEmpty());
  const std::vector<Cause> missing = Things().Validate(Json("{}"));
  ASSERT_EQ(missing.size(), 1u);
  EXPECT_EQ(missing[0].field, "spec");
}

TEST(SchemaTest, PrunesAndSetsDefaults) {
  EXPECT_EQ(WriteJson(Things().PruneAndDefault(
                Json(R"({"kind":"Thing","zoo":1,"spec":{"zoo":1,"any":{"zoo":1},)"
                     R"("list":[{"k":"a","zoo":1}]}})"))),
            R"({"kind":"Thing","spec":{"any":{"zoo":1},"list":[{"k":"a"}],"size":3}})");
}

TEST(SchemaTest, NullInAMapMustFitItsType) {
  const Schema schema(Json(R"({"properties":{
    "map":{"type":"object","additionalProperties":{"type":"string"}},
    "nulls":{"type":"object","additionalProperties":{"type":"string","nullable":true}},
    "filled":{"type":"object","additionalProperties":{"type":"string","default":"x"}}}})"));
  const Json::Value object =
      Json(R"({"map":{"a":null},"nulls":{"a":null},"filled":{"a":null,"b":"y"}})");
  EXPECT_EQ(schema.Validate(schema.PruneAndDefault(object)).size(), 1u);
  EXPECT_EQ(schema.Validate(schema.PruneAndDefault(object))[0].field, "map.a");
}

TEST(SchemaTest, DropsNullsThatAreNotAllowed) {
  const Schema schema(Json(R"({"properties":{
    "plain":{"type":"string"},"null":{"type":"string","nullable":true},
    "filled":{"type":"string","default":"x"},
    "list":{"type":"array","items":{"properties":{"plain":{"type":"string"}}}},
    "map":{"type":"object","additionalProperties":{"type":"string"}}}})"));
  EXPECT_EQ(WriteJson(schema.DropNulls(
                Json(R"({"kind":null,"plain":null,"null":null,"filled":null,"other":null,)"
                     R"("list":[null,{"plain":null}],"map":{"any":null}})"))),
            R"({"filled":null,"kind":null,"list":[null,{}],"map":{},"null":null,"other":null})");
}

TEST(SchemaTest, ReportsUnsupportedKeywords) {
  EXPECT_EQ(Things().UnknownKeyword(), "");
  EXPECT_EQ(Schema(Json(R"({"properties":{"a":{"items":{"oneOf":[]}}}})")).UnknownKeyword(),
            "oneOf");
}

}  // namespace
}  // namespace mandate::apiserver
