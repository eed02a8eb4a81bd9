#include "manager/rbac/normalize.h"

#include <algorithm>
#include <initializer_list>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "manager/rbac/testing/rule_text.h"

namespace mandate::rbac {
namespace {

struct Case {
  std::string name;
  std::vector<std::string> in;
  std::vector<std::string> want;
};

class NormalizeTest : public testing::TestWithParam<Case> {};

TEST_P(NormalizeTest, HasTheNormalForm) {
  EXPECT_EQ(RuleTexts(NormalizeRules(RulesOf(GetParam().in))), GetParam().want);
}

INSTANTIATE_TEST_SUITE_P(
    Table, NormalizeTest,
    testing::ValuesIn(std::vector<Case>{
        {"Nothing", {}, {}},
        {"CoreIsEmptyGroup",
         {"core|pods|-|-|get", "apps;core|jobs|-|-|get"},
         {"|pods|-|-|get", ";apps|jobs|-|-|get"}},
        {"CoreIsAnExactWord", {"Core|pods|-|-|get"}, {"Core|pods|-|-|get"}},
        {"ListsAreSortedAndUnique", {"b;a;b|r|y;x;y|-|watch;get;watch"}, {"a;b|r|x;y|-|get;watch"}},
        {"VerbsOfOneKeyJoin", {"a|r|-|-|list", "a|r|-|-|get"}, {"a|r|-|-|get;list"}},
        {"ResourcesOfEqualVerbsJoin", {"a|two|-|-|get", "a|one|-|-|get"}, {"a|one;two|-|-|get"}},
        {"GroupsOfEqualResourcesJoin", {"b|r|-|-|get", "a|r|-|-|get"}, {"a;b|r|-|-|get"}},
        {"UrlsOfEqualVerbsJoin", {"-|-|-|/b|get", "-|-|-|/a|get"}, {"-|-|-|/a;/b|get"}},
        {"NamesNeverJoin", {"a|r|x|-|get", "a|r|y|-|get"}, {"a|r|x|-|get", "a|r|y|-|get"}},
        // Verbs are joined before resources: r1 has get;list then, and can no longer be joined with
        // r2.
        {"VerbsJoinFirst",
         {"a|r1;r2|-|-|get", "a|r1|-|-|list"},
         {"a|r1|-|-|get;list", "a|r2|-|-|get"}},
        // Resources are joined before groups: the group a has x and y, so it cannot be joined with
        // b, which has only x.
        {"ResourcesJoinBeforeGroups",
         {"a|x;y|-|-|get", "b|x|-|-|get"},
         {"a|x;y|-|-|get", "b|x|-|-|get"}},
        // There is no subsumption, and no second join after the verbs have become "*".
        {"StarIsOnlyNormalised", {"a|r|-|-|get;*", "a|q|-|-|*"}, {"a|q|-|-|*", "a|r|-|-|*"}},
        {"NoSubsumption", {"*|*|-|-|get", "a|r|-|-|get"}, {"*|*|-|-|get", "a|r|-|-|get"}},
        // The order is that of the text "groups + resources + …": ' ' < '&' < '/' < 'a'.
        {"OrderIsOfTheJoinedText",
         {"a;b|r|-|-|get", "a|z|-|-|list", "a/|r|-|-|watch", "-|-|-|/x|get"},
         {"-|-|-|/x|get", "a|z|-|-|list", "a;b|r|-|-|get", "a/|r|-|-|watch"}},
        // controller-gen drops "get" or "list" here, at random.
        {"NothingIsLostWhenKeysMeet",
         {"a|r|-|-|get", "b|r|-|-|get", "a;b|r|-|-|list"},
         {"a;b|r|-|-|get;list"}},
        {"EmptyTextIsEmptyList", {"-|pods|-|-|get", "|pods|-|-|list"}, {"-|pods|-|-|get;list"}},
        // A separator inside a string does not separate.
        {"JoinedTextsAreNotKeys",
         {"a&b|r|-|-|get", "a;b|r|-|-|list"},
         {"a&b|r|-|-|get", "a;b|r|-|-|list"}},
    }),
    [](const auto& info) { return info.param.name; });

// For any rules in any order, the normal form allows exactly the same requests.
TEST(Normalize, NeverWidensNorNarrows) {
  std::mt19937 random(20240517);
  const std::vector<std::string> groups = {"", "apps", "core", "*"};
  const std::vector<std::string> resources = {"pods", "pods/log", "jobs", "*"};
  const std::vector<std::string> names = {"x", "y"};
  const std::vector<std::string> verbs = {"get", "list", "create", "*"};
  const auto pick = [&](const std::vector<std::string>& from, int least) {
    std::vector<std::string> picked;
    const int n = least + static_cast<int>(random() % 2);
    for (int i = 0; i < n; ++i) picked.push_back(from[random() % (from.size() - random() % 2)]);
    return picked;
  };
  for (int round = 0; round < 300; ++round) {
    std::vector<Rule> rules;
    for (size_t i = 0, n = 1 + random() % 8; i < n; ++i) {
      rules.push_back({.verbs = pick(verbs, 1),
                       .api_groups = pick(groups, 1),
                       .resources = pick(resources, 1),
                       .resource_names = pick(names, 0)});
    }
    const std::vector<Rule> normal = NormalizeRules(rules);
    std::shuffle(rules.begin(), rules.end(), random);
    EXPECT_EQ(NormalizeRules(rules), normal);
    for (Rule& rule : rules) {
      std::replace(rule.api_groups.begin(), rule.api_groups.end(), std::string("core"),
                   std::string());
    }
    for (const char* verb : {"get", "list", "create", "delete"}) {
      for (const char* group : {"", "apps", "batch"}) {
        for (const auto& [resource, subresource] : std::vector<std::pair<std::string, std::string>>{
                 {"pods", ""}, {"pods", "log"}, {"jobs", ""}, {"nodes", ""}}) {
          for (const char* name : {"", "x", "y"}) {
            Attributes ask;
            ask.verb = verb;
            ask.api_group = group;
            ask.resource = resource;
            ask.subresource = subresource;
            ask.name = name;
            const auto allows = [&](const Rule& rule) { return RuleAllows(rule, ask); };
            EXPECT_EQ(std::any_of(normal.begin(), normal.end(), allows),
                      std::any_of(rules.begin(), rules.end(), allows))
                << verb << " " << group << "/" << resource << "/" << subresource << " " << name;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace mandate::rbac
