#include "testing/conformance/match.h"

#include <gtest/gtest.h>

#include "manager/object/json.h"
#include "testing/conformance/json_yaml.h"

namespace mandate::conformance {
namespace {

TEST(MatchTest, Texts) {
  const struct {
    const char* expected;
    const char* actual;
    bool matches;
  } cases[] = {
      {"", "", true},
      {"a", "b", false},
      {"$ns", "row-1", true},
      {"$ns", "row-10", false},
      {"a.c", "abc", false},
      {R"(pods "$ns" not found (1))", R"(pods "row-1" not found (1))", true},
      {"<uid>", "0b1f9d5e-2c38-4b0f-9d5e-2c384b0f9d5e", true},
      {"<uid>", "0b1f9d5e", false},
      {"UID <uid>.", "UID 0b1f9d5e-2c38-4b0f-9d5e-2c384b0f9d5e.", true},
      {"<rv>", "0", false},
      {"<rv>", "120", true},
      {"<time>", "2026-11-21T09:30:00Z", true},
      {"<time>", "2026-11-21T09:30:00.000000Z", false},
      {"<microtime>", "2026-11-21T09:30:00.000000Z", true},
      {"<name>", "web-x7k2p", true},
      {"<name>", "Web", false},
      {"<nil>", "<nil>", true},
      {"<~ a(b|c)+>!", "abcb!", true},
      {"<~ a(b|c)+>!", "a!", false},
      {"<any>", "two\nlines", true},
      {"<above $rv>", "43", true},
      {"<above $rv>", "42", false},
      {"<above $rv>", "x", false},
      {"$unset", "", false},
  };
  for (const auto& c : cases) {
    Variables variables = {{"ns", "row-1"}, {"rv", "42"}};
    EXPECT_EQ(MatchText(c.expected, c.actual, variables).ok(), c.matches)
        << c.expected << " against " << c.actual;
  }
}

TEST(MatchTest, CapturesOnSuccessOnly) {
  Variables variables;
  EXPECT_FALSE(MatchText("<rv $a>/<rv $b>", "1/x", variables).ok());
  EXPECT_TRUE(variables.empty());
  EXPECT_TRUE(MatchText("<~ (x|y)z $a>/<rv $b>", "yz/2", variables).ok());
  EXPECT_EQ(variables, (Variables{{"a", "yz"}, {"b", "2"}}));
}

TEST(MatchTest, Values) {
  const struct {
    const char* expected;
    const char* actual;  // JSON; nullptr: absent
    const char* error;   // empty: it matches
  } cases[] = {
      {"1", "1", ""},
      {"1", "2", "expected 1, got 2"},
      {"1", R"("1")", R"(expected 1, got "1")"},
      {"'1'", "1", R"(expected "1", got 1)"},
      {"<int>", "1", ""},
      {"<int>", "true", R"(expected "<int>", got true)"},
      {"~", "null", ""},
      {"~", nullptr, "expected null, got nothing"},
      {"<any>", "{}", ""},
      {"<any>", nullptr, R"(expected "<any>", got nothing)"},
      {"<absent>", nullptr, ""},
      {"<absent>", "null", "expected nothing, got null"},
      {"{a: 1}", R"({"a":1,"b":2})", ""},
      {"{a: {b: 1}}", R"({"a":{"b":2}})", ".a.b: expected 1, got 2"},
      {"{a: <absent>}", R"({"b":2})", ""},
      {"{<only>: true, a: 1}", R"({"a":1,"b":2})", ".b: expected nothing, got 2"},
      {"{<only>: true, $k: 1}", R"({"key":1})", ""},
      {"{}", "[]", "expected {}, got []"},
      {"[1, 2]", "[1,2]", ""},
      {"[1]", "[1,2]", "expected 1 elements, got 2: [1,2]"},
      {"[{a: 1}]", R"([{"a":2}])", "[0].a: expected 1, got 2"},
      {"[<some>, 2, 4]", "[1,2,3,4]", ""},
      {"[<some>, 4, 2]", "[1,2,3,4]", "expected an element 2, got [1,2,3,4]"},
      {"[<some>]", "[]", ""},
  };
  for (const auto& c : cases) {
    Variables variables = {{"k", "key"}};
    const Json::Value actual = c.actual == nullptr ? Json::Value() : *ParseJson(c.actual);
    const absl::Status status = MatchJson(ToJson(YAML::Load(c.expected)),
                                          c.actual == nullptr ? nullptr : &actual, variables);
    EXPECT_EQ(status.message(), c.error) << c.expected;
  }
}

}  // namespace
}  // namespace mandate::conformance
