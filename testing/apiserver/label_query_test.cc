#include "testing/apiserver/label_query.h"

#include <gtest/gtest.h>

#include "manager/core/strings.h"

namespace mandate::apiserver {
namespace {

// In the order of the requirements' keys, as they are printed.
TEST(LabelQueryTest, Reads) {
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

// The words are rows of testing/conformance/rows/selectors.yaml too.
TEST(LabelQueryTest, RefusesInTheServersWords) {
  const struct {
    const char* text;
    const char* starts;
  } kCases[] = {
      {",a", "found ',', expected: !, identifier, or 'end of string'"},
      {"(a)", "found '(', expected: !, identifier, or 'end of string'"},
      {"a,", "found '', expected: identifier after ','"},
      {"a=b c", "found 'c', expected: ',' or 'end of string'"},
      {"!", "unable to parse requirement: found '', expected: identifier"},
      {"a b", "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"},
      {"a in b", "unable to parse requirement: found 'b' expected: '('"},
      {"a in (b", "unable to parse requirement: found '', expected: ',' or ')'"},
      {"a==,=", "found '=', expected: identifier after ','"},
      {"a>x", "unable to parse requirement: values[0]: Invalid value: \"x\": for 'Gt', 'Lt'"},
      {"a>-1", "unable to parse requirement: values[0][a]: Invalid value: \"-1\": a valid label"},
      {"-a", "unable to parse requirement: <nil>: Invalid value: \"-a\": name part must consist"},
      {"x/y/z", "unable to parse requirement: <nil>: Invalid value: \"x/y/z\": a valid label key"},
      {"X/y", "unable to parse requirement: <nil>: Invalid value: \"X/y\": prefix part a lower"},
  };
  for (const auto& c : kCases) {
    const auto selector = ParseLabelQuery(c.text);
    ASSERT_FALSE(selector.ok()) << c.text;
    const std::string_view message = AsStd(selector.status().message());
    EXPECT_EQ(message.substr(0, std::string_view(c.starts).size()), c.starts) << c.text;
  }
}

}  // namespace
}  // namespace mandate::apiserver
