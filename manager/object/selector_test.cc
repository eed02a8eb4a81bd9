#include "manager/object/selector.h"

#include <map>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "k8s.io/apimachinery/pkg/apis/meta/v1/generated.pb.h"
#include "manager/core/strings.h"

namespace mandate {
namespace {

using testing::HasSubstr;
using Labels = std::map<std::string, std::string>;
using SelectorProto = k8s::io::apimachinery::pkg::apis::meta::v1::LabelSelector;

std::string Text(const absl::StatusOr<LabelSelector>& selector) {
  return selector.ok() ? selector->ToString() : "! " + std::string(selector.status().message());
}

TEST(SelectorTest, ParsesAndPrints) {
  const struct {
    const char* in;
    const char* out;
  } kCases[] = {
      {"", ""},
      {"  ", ""},
      {"a=b", "a=b"},
      {"a==b", "a=b"},
      {" a = b , c != d ", "a=b,c!=d"},
      {"z,a", "a,z"},
      {"!a", "!a"},
      {"! a", "!a"},
      {"a=", "a="},
      {"a!=,b", "a!=,b"},
      {"a in (y, x,y)", "a in (x,y)"},
      {"a in(x)", "a in (x)"},
      {"a in (,x)", "a in (,x)"},
      {"a in (,)", "a in (,)"},
      {"a in ()", "a in (,)"},
      {"a notin (,)", "a notin (,)"},
      {"a notin (x),example.com/b", "a notin (x),example.com/b"},
      {"in", "in"},
      {"in in (in,notin)", "in in (in,notin)"},
      {"a=in", "a=in"},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(Text(LabelSelector::Parse(c.in)), c.out) << c.in;
    EXPECT_EQ(Text(LabelSelector::Parse(c.out)), c.out) << "printed";
  }
}

// The API server's syntax (k8s.io/apimachinery pkg/labels). Printed selectors are accepted, too.
TEST(SelectorTest, ParseAccepts) {
  for (const char* text : {" ",
                           "a",
                           "a!=b",
                           "a=,b",
                           "a,b",
                           " a = b , c ",
                           "a in (b)",
                           "a in (b,c)",
                           "a in (b,)",
                           "a in (,b)",
                           "a in (b,,c)",
                           "a notin (b)",
                           "in in (in)",
                           "notin",
                           "a in (in,notin)",
                           "a>1",
                           "a < 20",
                           "x.y/a=b",
                           "x-1.example/a_b.c-d",
                           "A1=b",
                           "!in"}) {
    const auto selector = LabelSelector::Parse(text);
    EXPECT_TRUE(selector.ok()) << text << ": " << selector.status();
  }
  EXPECT_TRUE(LabelSelector::Parse("a=" + std::string(61, '1') + "_3").ok());
}

TEST(SelectorTest, ParseQuotesTheSelectorThatItRejects) {
  for (const char* text : {",",
                           "a,",
                           ",a",
                           "a,,b",
                           "=b",
                           "a=b=c",
                           "a b",
                           "a in",
                           "a in b",
                           "a in (b",
                           "a in b)",
                           "a in (b c)",
                           "a in (=)",
                           "!",
                           "!!a",
                           "!a=b",
                           "!a in (b)",
                           "a!",
                           "a=!b",
                           "a>",
                           "a>b",
                           "a>-1",
                           "a>99999999999999999999",
                           "a<=1",
                           "()",
                           "a in ((b))",
                           "-a",
                           "a-",
                           "a=-b",
                           "a=b.",
                           "x/y/a",
                           "/a",
                           "x/",
                           "X/a=b",
                           "x_y/a",
                           ".x/a",
                           "x..y/a",
                           "a@b",
                           "a=b@c",
                           "a=b/c",
                           "ä",
                           "a===b",
                           "a in x",
                           "a in (x",
                           "a in (x y)",
                           "a>x",
                           "a<",
                           "a!b",
                           "a in (b))",
                           "A.c/x",
                           "a>=1",
                           "a>1.5"}) {
    const auto selector = LabelSelector::Parse(text);
    EXPECT_EQ(selector.status().code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(Text(selector), HasSubstr(StrCat("selector \"", text, "\": ")));
  }
  EXPECT_FALSE(LabelSelector::Parse("a" + std::string(64, '1')).ok());
  EXPECT_FALSE(LabelSelector::Parse("a=" + std::string(62, '1') + "_4").ok());
}

TEST(SelectorTest, ParseNamesTheColumn) {
  EXPECT_EQ(Text(LabelSelector::Parse("a in x")),
            "! selector \"a in x\": expected '(' at column 6");
}

TEST(SelectorTest, Matches) {
  const struct {
    const char* selector;
    bool none, a_x, a_y_b;  // {}, {a: x}, {a: y, b: ""}
  } kCases[] = {
      {"", true, true, true},
      {"a", false, true, true},
      {"!a", true, false, false},
      {"a=x", false, true, false},
      {"a!=x", true, false, true},
      {"a in (x,y)", false, true, true},
      {"a notin (x)", true, false, true},
      {"a notin (x),a", false, false, true},
      {"b=", false, false, true},
      {"a,!b", false, true, false},
      {"a=x,b", false, false, false},
  };
  for (const auto& c : kCases) {
    const auto selector = LabelSelector::Parse(c.selector);
    ASSERT_TRUE(selector.ok()) << selector.status();
    EXPECT_EQ(selector->Matches(Labels{}), c.none) << c.selector;
    EXPECT_EQ(selector->Matches(Labels{{"a", "x"}}), c.a_x) << c.selector;
    EXPECT_EQ(selector->Matches(Labels{{"a", "y"}, {"b", ""}}), c.a_y_b) << c.selector;
  }
}

// Gt and Lt compare integers, whatever the other labels are.
TEST(SelectorTest, Compares) {
  const struct {
    const char* selector;
    const char* value;
    bool matches;
  } kCases[] = {{"n>4", "5", true},  {"n>4", "4", false},      {"n<5", "-7", true},
                {"n<5", "5", false}, {"n>4", "x", false},      {"n<5", "", false},
                {"n>4", "10", true}, {"n > 4,n<6", "5", true}, {"n>4,n<6", "6", false}};
  for (const auto& c : kCases) {
    const auto selector = LabelSelector::Parse(c.selector);
    ASSERT_TRUE(selector.ok()) << selector.status();
    EXPECT_EQ(selector->Matches(Labels{{"n", c.value}}), c.matches) << c.selector << " " << c.value;
    EXPECT_FALSE(selector->Matches(Labels{})) << c.selector;
    EXPECT_EQ(LabelSelector::Parse(selector->ToString()).value(), *selector);
  }
}

TEST(SelectorTest, OfMap) {
  EXPECT_EQ(Text(LabelSelector::FromMap({{"b", "2"}, {"a", ""}})), "a=,b=2");
  EXPECT_THAT(Text(LabelSelector::FromMap({{"-", ""}}, "spec.s")),
              HasSubstr("! spec.s: \"-\" must"));
  EXPECT_THAT(Text(LabelSelector::FromMap({{"a", "-"}}, "spec.s")),
              HasSubstr("! spec.s[a]: \"-\" must"));
}

TEST(SelectorTest, OfMessage) {
  SelectorProto proto;
  EXPECT_TRUE(LabelSelector::FromProto(proto)->MatchesEverything());
  (*proto.mutable_matchlabels())["app"] = "web";
  auto* expression = proto.add_matchexpressions();
  expression->set_key("tier");
  expression->set_operator_("NotIn");
  expression->add_values("b");
  expression->add_values("a");
  EXPECT_EQ(Text(LabelSelector::FromProto(proto)), "app=web,tier notin (a,b)");
  EXPECT_TRUE(LabelSelector::FromProto(proto)->Matches(proto.matchlabels()));
  expression->set_operator_("Exists");
  EXPECT_EQ(
      Text(LabelSelector::FromProto(proto)),
      "! selector.matchExpressions[0].values: operators Exists and DoesNotExist take no values");
  expression->set_operator_("exists");
  EXPECT_EQ(Text(LabelSelector::FromProto(proto)),
            "! selector.matchExpressions[0].operator: \"exists\" must be one of In, NotIn, Exists, "
            "DoesNotExist");
}

TEST(SelectorTest, OfJsonInEitherForm) {
  const struct {
    const char* json;
    const char* text;
  } kCases[] = {
      {"null", ""},
      {"{}", ""},
      {R"({"fooKey":"barValue"})", "fooKey=barValue"},
      {R"({"b":"","a":"x"})", "a=x,b="},
      {R"({"matchLabels":{"a":"b"}})", "a=b"},
      {R"({"matchLabels":null})", ""},
      {R"({"matchExpressions":[{"key":"a","operator":"In","values":["x"]}]})", "a in (x)"},
      {R"({"matchLabels":{"a":"b"},"matchExpressions":[{"key":"c","operator":"DoesNotExist"}]})",
       "a=b,!c"},
      {"[]", "! s: expected an object, got an array"},
      {"3", "! s: expected an object, got a number"},
      {R"({"a":1})", "! s[a]: expected a string, got a number"},
      {R"({"a":"b","a":"c"})", "! s[a]: duplicate field"},
      {R"({"matchLabels":"x"})", "! s.matchLabels: expected an object, got a string"},
      {R"({"matchLabels":{},"app":"web"})",
       "! s: mixes matchLabels or matchExpressions with the label \"app\"; move the label into "
       "matchLabels"},
      {R"({"matchLabels":{"a":{}}})", "! s.matchLabels[a]: expected a string, got an object"},
      {R"({"matchExpressions":[{"key":"a","operator":"In"}]})",
       "! s.matchExpressions[0].values: operators In and NotIn need at least one value"},
      {R"({"matchExpressions":[{"key":"a","op":"In"}]})",
       "! s.matchExpressions[0].op: unknown field"},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(Text(LabelSelector::FromJson(c.json, "s")), c.text) << c.json;
  }
  for (const char* invalid : {"{", "null 1", "[] 1", R"({"a":"b"} 1)"}) {
    EXPECT_THAT(Text(LabelSelector::FromJson(invalid, "s")),
                HasSubstr("! s: invalid JSON at line 1"))
        << invalid;
  }
}

TEST(LabelSelector, IncludesANarrowerOne) {
  const struct {
    const char* wide;
    const char* narrow;
    bool includes;
  } kCases[] = {
      {"", "", true},
      {"", "a=b", true},
      {"a=b", "a=b", true},
      {"a=b", "a=b,!c", true},
      {"a=b,!c", "a=b", false},
      {"a=b", "a=c", false},
      {"a in (b,c)", "a in (c,b)", true},
      {"a", "a=b", false},  // true of each object, but not one of the requirements
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(LabelSelector::Parse(c.wide)->Includes(*LabelSelector::Parse(c.narrow)), c.includes)
        << c.wide << " / " << c.narrow;
  }
}

}  // namespace
}  // namespace mandate
