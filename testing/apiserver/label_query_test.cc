#include "testing/apiserver/label_query.h"

#include <gtest/gtest.h>

namespace mandate::apiserver {
namespace {

// Printed selectors are sorted by key. The errors are rows of
// testing/conformance/rows/selectors.yaml.
TEST(LabelQueryTest, Parses) {
  const struct {
    const char* text;
    const char* means;
  } kCases[] = {
      {"", ""},
      {"  ", ""},
      {"a", "a"},
      {"!a", "!a"},
      {"a=b", "a=b"},
      {" a == b ", "a=b"},
      {"a=", "a="},
      {"a=,b", "a=,b"},
      {"a!=b,c", "a!=b,c"},
      {"a in (x,y)", "a in (x,y)"},
      {"a in (,x)", "a in (,x)"},
      {"a in ()", "a in (,)"},
      {"a notin (x,)", "a notin (,x)"},
      {"in", "in"},
      {"in in (in)", "in in (in)"},
      {"n>4,m<5", "m<5,n>4"},
  };
  for (const auto& c : kCases) {
    const auto selector = ParseLabelQuery(c.text);
    ASSERT_TRUE(selector.ok()) << c.text << ": " << selector.status();
    EXPECT_EQ(selector->ToString(), c.means) << c.text;
  }
}

}  // namespace
}  // namespace mandate::apiserver
