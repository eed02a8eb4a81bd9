#include "manager/rbac/covers.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "manager/rbac/testing/rule_text.h"

namespace mandate::rbac {
namespace {

using Strings = std::vector<std::string>;

TEST(CoversTest, BreaksDownIntoSingles) {
  EXPECT_EQ(
      RuleTexts(Breakdown(RuleOf(";apps|pods|-|-|get;list"))),
      (Strings{"|pods|-|-|get", "|pods|-|-|list", "apps|pods|-|-|get", "apps|pods|-|-|list"}));
  EXPECT_EQ(RuleTexts(Breakdown(RuleOf("|pods|a;b|-|get"))),
            (Strings{"|pods|a|-|get", "|pods|b|-|get"}));
  EXPECT_EQ(RuleTexts(Breakdown(RuleOf("-|-|-|/a;/b|get;head"))),
            (Strings{"-|-|-|/a|get", "-|-|-|/a|head", "-|-|-|/b|get", "-|-|-|/b|head"}));
  EXPECT_EQ(RuleTexts(Breakdown(RuleOf("|pods|-|-|-"))), (Strings{}));
  EXPECT_EQ(RuleTexts(Breakdown(RuleOf("-|pods|-|-|get"))), (Strings{}));
  EXPECT_EQ(RuleTexts(Breakdown(RuleOf("|-|-|-|get"))), (Strings{}));
}

TEST(CoversTest, Uncovered) {
  struct Case {
    std::string what;
    Strings held, wanted, missing;
  };
  const Case cases[] = {
      {"nothing wanted", {}, {}, {}},
      {"nothing held", {}, {"|pods|-|-|get"}, {"|pods|-|-|get"}},
      {"the same", {"|pods|-|-|get"}, {"|pods|-|-|get"}, {}},
      {"more verbs", {"|pods|-|-|get"}, {"|pods|-|-|get;list"}, {"|pods|-|-|list"}},
      {"verbs of two rules", {"|pods|-|-|get", "|pods|-|-|list"}, {"|pods|-|-|get;list"}, {}},
      {"a rule without verbs wants nothing", {}, {"|pods|-|-|-"}, {}},
      {"star verb held", {"|pods|-|-|*"}, {"|pods|-|-|get"}, {}},
      {"star verb wanted", {"|pods|-|-|get"}, {"|pods|-|-|*"}, {"|pods|-|-|*"}},
      {"all verbs there are make no star",
       {"|pods|-|-|get;list;watch;create;update;patch;delete;deletecollection"},
       {"|pods|-|-|*"},
       {"|pods|-|-|*"}},
      {"another group", {"|pods|-|-|get"}, {"apps|pods|-|-|get"}, {"apps|pods|-|-|get"}},
      {"star group held", {"*|pods|-|-|get"}, {"|pods|-|-|get"}, {}},
      {"star group wanted", {"|pods|-|-|get"}, {"*|pods|-|-|get"}, {"*|pods|-|-|get"}},
      {"verb and group of different rules",
       {"|nodes|-|-|get", "|pods|-|-|list"},
       {"|pods|-|-|get"},
       {"|pods|-|-|get"}},
      {"a resource does not hold its subresource",
       {"|pods|-|-|get"},
       {"|pods/log|-|-|get"},
       {"|pods/log|-|-|get"}},
      {"star holds subresources", {"|*|-|-|get"}, {"|pods/log;pods;*/scale;*|-|-|get"}, {}},
      {"star and slash held", {"|*/log|-|-|get"}, {"|pods/log|-|-|get"}, {}},
      {"star and slash held, the plain resource wanted",
       {"|*/log|-|-|get"},
       {"|pods|-|-|get"},
       {"|pods|-|-|get"}},
      {"star and slash wanted", {"|pods/log|-|-|get"}, {"|*/log|-|-|get"}, {"|*/log|-|-|get"}},
      {"slash and star is a name",
       {"|pods/*|-|-|get"},
       {"|pods/log|-|-|get"},
       {"|pods/log|-|-|get"}},
      {"everything behind the first slash", {"|*/a/b|-|-|get"}, {"|pods/a/b|-|-|get"}, {}},
      {"any name held", {"|pods|-|-|get"}, {"|pods|a|-|get"}, {}},
      {"any name wanted", {"|pods|a|-|get"}, {"|pods|-|-|get"}, {"|pods|-|-|get"}},
      {"names", {"|pods|a;b|-|get"}, {"|pods|b;c|-|get"}, {"|pods|c|-|get"}},
      {"names of two rules", {"|pods|a|-|get", "|pods|b|-|get"}, {"|pods|a;b|-|get"}, {}},
      {"star is a name", {"|pods|*|-|get"}, {"|pods|a|-|get"}, {"|pods|a|-|get"}},
      {"URL", {"-|-|-|/a|get"}, {"-|-|-|/a;/b|get"}, {"-|-|-|/b|get"}},
      {"URL prefix", {"-|-|-|/a/*|get"}, {"-|-|-|/a/b;/a/b/*;/a/*|get"}, {}},
      {"URL prefix with its slash", {"-|-|-|/a/*|get"}, {"-|-|-|/a|get"}, {"-|-|-|/a|get"}},
      {"a narrower URL prefix", {"-|-|-|/a/b*|get"}, {"-|-|-|/a/*|get"}, {"-|-|-|/a/*|get"}},
      {"every URL", {"-|-|-|*|*"}, {"-|-|-|/a;*;x|get;*"}, {}},
      {"names are compared for URLs too, and what is wanted of a URL has none",
       {"-|-|a|/a|get"},
       {"-|-|-|/a|get"},
       {"-|-|-|/a|get"}},
      {"URLs are no resources", {"*|*|-|-|*"}, {"-|-|-|/a|get"}, {"-|-|-|/a|get"}},
      {"resources are no URLs", {"-|-|-|*|*"}, {"|pods|-|-|get"}, {"|pods|-|-|get"}},
      {"a held rule for both", {"|pods|-|/a|get"}, {"|pods|-|-|get", "-|-|-|/a|get"}, {}},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(RuleTexts(Uncovered(RulesOf(c.held), RulesOf(c.wanted))), c.missing) << c.what;
  }
}

TEST(CoversTest, CompactString) {
  EXPECT_EQ(CompactString(RuleOf("|pods|a|-|get;list")),
            R"({APIGroups:[""], Resources:["pods"], ResourceNames:["a"], Verbs:["get" "list"]})");
  EXPECT_EQ(CompactString(RuleOf("-|-|-|/a|get")), R"({NonResourceURLs:["/a"], Verbs:["get"]})");
  EXPECT_EQ(CompactString({}), "{}");
}

}  // namespace
}  // namespace mandate::rbac
