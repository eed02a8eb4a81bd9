#include "testing/conformance/json_yaml.h"

#include <gtest/gtest.h>

#include "manager/object/json.h"

namespace mandate::conformance {
namespace {

TEST(JsonYamlTest, ReadsPlainScalarsByTheCoreSchemaAndQuotedOnesAsStrings) {
  const struct {
    const char* yaml;
    const char* json;
  } cases[] = {
      {"a", R"("a")"},
      {"1", "1"},
      {"-7", "-7"},
      {"1.5", "1.5"},
      {"'1'", R"("1")"},
      {"\"true\"", R"("true")"},
      {"true", "true"},
      {"~", "null"},
      {"''", R"("")"},
      {"1.2.3", R"("1.2.3")"},
      {"2026-11-21", R"("2026-11-21")"},
      {"<uid $u>", R"("<uid $u>")"},
      {"[]", "[]"},
      {"{}", "{}"},
      {"{a: [1, {b: ~}], 2: x}", R"({"2":"x","a":[1,{"b":null}]})"},
      {"[&x {a: 1}, *x]", R"([{"a":1},{"a":1}])"},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(WriteJson(ToJson(YAML::Load(c.yaml))), c.json) << c.yaml;
  }
}

}  // namespace
}  // namespace mandate::conformance
