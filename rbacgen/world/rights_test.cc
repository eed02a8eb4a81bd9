#include "rbacgen/world/rights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "manager/core/strings.h"
#include "rbacgen/world/testing_worlds.h"
#include "rbacgen/world/words.h"

namespace mandate::rbacgen {
namespace {

rbac::Rule Rule(std::vector<std::string> verbs, std::vector<std::string> resources) {
  return {std::move(verbs), {""}, std::move(resources), {}, {}};
}

std::string Words(const RightsByNamespace& rights) {
  std::string text;
  for (const auto& [ns, rules] : rights) {
    for (const rbac::Rule& rule : rules) {
      StrAppend(&text, text.empty() ? "" : "; ", RuleWords(rule, ns));
    }
  }
  return text;
}

TEST(Gained, HasRightsThatWereNotCovered) {
  const RightsByNamespace none;
  const struct {
    const char* name;
    RightsByNamespace before, now;
    const char* gained;
    const char* lost;
  } kCases[] = {
      {"nothing", none, none, "", ""},
      {"the same, in other words",
       {{"", {Rule({"get", "list"}, {"pods", "nodes"})}}},
       {{"",
         {Rule({"list", "get"}, {"nodes"}), Rule({"get"}, {"pods"}), Rule({"list"}, {"pods"})}}},
       "",
       ""},
      {"a verb",
       {{"", {Rule({"get"}, {"pods"})}}},
       {{"", {Rule({"get", "list"}, {"pods"})}}},
       "list pods",
       ""},
      {"everything covers each",
       {{"", {Rule({"*"}, {"*"})}}},
       {{"", {Rule({"get"}, {"pods"})}}},
       "",
       "do anything to all resources of the core group"},
      {"everywhere covers somewhere",
       {{"", {Rule({"get"}, {"pods"})}}},
       {{"shop", {Rule({"get"}, {"pods"})}}},
       "",
       "get pods"},
      {"somewhere does not cover everywhere",
       {{"shop", {Rule({"get"}, {"pods"})}}},
       {{"", {Rule({"get"}, {"pods"})}}},
       "get pods",
       ""},
      {"gained everywhere is not gained once more",
       none,
       {{"", {Rule({"get"}, {"pods"})}}, {"shop", {Rule({"get"}, {"pods"})}}},
       "get pods",
       ""},
      {"another namespace",
       {{"shop", {Rule({"get"}, {"pods"})}}},
       {{"bank", {Rule({"get"}, {"pods"})}}},
       "get pods in bank",
       "get pods in shop"},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(Words(Gained(c.before, c.now)), c.gained) << c.name;
    EXPECT_EQ(Words(Gained(c.now, c.before)), c.lost) << c.name << ", the other way";
  }
}

TEST(RightsOf, ListsTheRightsOfEachBindingOnce) {
  const World world = TreeOf(
      "// +mandate:component:name=a\n"
      "// +kubebuilder:rbac:groups=core,resources=nodes,verbs=get\n"
      "// +mandate:rbac:groups=core,resources=pods,verbs=get,namespaces=shop;bank\n");
  const auto user = FindUser(world, "a", {});
  ASSERT_TRUE(user.ok());
  const auto rights = RightsOf(rbac::Authorizer(world.policy), *user);
  int nodes = 0, events = 0;
  std::vector<std::string> pods_in;
  for (const Right& right : rights) {
    EXPECT_NE(right.via.find("mandate-manager-a"), std::string::npos) << right.via;
    const std::string words = RuleWords(right.rule, "");
    if (words == "get nodes") ++nodes;
    if (words.find("events") != std::string::npos) ++events;
    if (words == "get pods") pods_in.push_back(right.ns);
  }
  EXPECT_EQ(nodes, 1);
  EXPECT_GE(events, 1);
  EXPECT_THAT(pods_in, testing::ElementsAre("bank", "shop"));
  EXPECT_THAT(KnownNamespaces(world), testing::ElementsAre("bank", "mandate-system", "shop"));
}

}  // namespace
}  // namespace mandate::rbacgen
