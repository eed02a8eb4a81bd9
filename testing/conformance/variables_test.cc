#include "testing/conformance/variables.h"

#include <gtest/gtest.h>

#include "manager/object/json.h"

namespace mandate::conformance {
namespace {

const Variables kSet = {{"ns", "row-1"}, {"rv", "42"}};

TEST(VariablesTest, SubstitutesInText) {
  const struct {
    const char* text;
    const char* expected;
  } cases[] = {
      {"", ""},
      {"plain", "plain"},
      {"/namespaces/$ns/pods?rv=$rv", "/namespaces/row-1/pods?rv=42"},
      {"${ns}x", "row-1x"},
      {"$ns-x", "row-1-x"},
      {"$$ns", "$ns"},
      {"cost: $5 or $", "cost: $5 or $"},
      {"${ns", "${ns"},
  };
  for (const auto& c : cases) {
    const auto got = Substitute(c.text, kSet);
    ASSERT_TRUE(got.ok()) << c.text;
    EXPECT_EQ(*got, c.expected) << c.text;
  }
}

TEST(VariablesTest, NamesWhatIsNotSet) {
  const auto got = Substitute("x $uid", kSet);
  EXPECT_EQ(got.status(), absl::NotFoundError("$uid was never set"));
}

TEST(VariablesTest, SubstitutesInKeysAndValues) {
  const auto got = SubstituteAll(*ParseJson(R"({"$ns":["$rv",1,{"a":"${rv}0"}]})"), kSet);
  ASSERT_TRUE(got.ok());
  EXPECT_EQ(WriteJson(*got), R"({"row-1":["42",1,{"a":"420"}]})");
}

}  // namespace
}  // namespace mandate::conformance
