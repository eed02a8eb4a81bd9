#include "rbacgen/markers/minimal_rules.h"

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "manager/rbac/rule.h"

namespace mandate::rbacgen {
namespace {

using rbac::Attributes;
using rbac::Rule;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

Rule R(std::vector<std::string> groups, std::vector<std::string> resources,
       std::vector<std::string> verbs, std::vector<std::string> names = {}) {
  return {.verbs = std::move(verbs),
          .api_groups = std::move(groups),
          .resources = std::move(resources),
          .resource_names = std::move(names)};
}

Rule Url(std::vector<std::string> urls, std::vector<std::string> verbs) {
  Rule rule;
  rule.verbs = std::move(verbs);
  rule.non_resource_urls = std::move(urls);
  return rule;
}

TEST(MinimalRules, RemovesItemsThatAnotherRuleAllows) {
  // A name if any name is allowed; a verb, group, resource and subresource next to "*"; a URL next
  // to its prefix.
  EXPECT_THAT(MinimalRules({R({""}, {"pods"}, {"get"}, {"x"}), R({""}, {"pods"}, {"get"})}),
              ElementsAre(R({""}, {"pods"}, {"get"})));
  EXPECT_THAT(MinimalRules({R({"a"}, {"r"}, {"*", "get"}), R({"a"}, {"r"}, {"list"})}),
              ElementsAre(R({"a"}, {"r"}, {"*"})));
  EXPECT_THAT(MinimalRules({R({"*"}, {"*"}, {"get"}), R({"a"}, {"r", "r/log"}, {"get"})}),
              ElementsAre(R({"*"}, {"*"}, {"get"})));
  EXPECT_THAT(MinimalRules({R({""}, {"*/log"}, {"get"}), R({""}, {"pods/log"}, {"get"})}),
              ElementsAre(R({""}, {"*/log"}, {"get"})));
  EXPECT_THAT(MinimalRules({Url({"/a/*", "/a/b", "/a/**"}, {"get"}), Url({"/a"}, {"get"})}),
              ElementsAre(Url({"/a", "/a/*"}, {"get"})));
}

TEST(MinimalRules, KeepsItemsThatNoOtherRuleAllows) {
  const std::vector<std::vector<Rule>> kept = {
      {R({""}, {"pods"}, {"get"}), R({""}, {"pods/log"}, {"get"}, {"x"})},
      {R({""}, {"*/log"}, {"get"}), R({""}, {"pods"}, {"get"}, {"x"})},
      {R({"a"}, {"r"}, {"get"}), R({"b"}, {"s"}, {"get"})},
      {R({"a"}, {"r"}, {"get"}), R({"a"}, {"s"}, {"list"})},
  };
  for (const auto& rules : kept) EXPECT_THAT(MinimalRules(rules), SizeIs(rules.size()));
}

// controller-gen does not simplify the first of these two, because it joins verbs, resources and
// groups only once each.
TEST(MinimalRules, JoinsUntilNoPairIsLeft) {
  EXPECT_THAT(MinimalRules({R({""}, {"me"}, {"list"}), R({"", "x"}, {"me"}, {"get", "list"})}),
              ElementsAre(R({"", "x"}, {"me"}, {"get", "list"})));
  EXPECT_THAT(MinimalRules({R({""}, {"r"}, {"get"}, {"b"}), R({""}, {"r"}, {"get"}, {"a"})}),
              ElementsAre(R({""}, {"r"}, {"get"}, {"a", "b"})));
}

TEST(MinimizeGrants, RemovesRulesThatAClusterWideGrantAllows) {
  ComponentMandate component;
  component.name = "c";
  const auto add = [&](const char* ns, bool external, Rule rule) {
    component.grants.push_back(
        {.ns = ns, .external = external, .rules = {std::move(rule)}, .justifications = {}});
  };
  add("", false, R({""}, {"pods"}, {"get", "list"}));
  add("n", false, R({""}, {"pods"}, {"get", "delete"}));
  add("", true, R({""}, {"pods"}, {"list"}));
  MinimizeGrants(&component);
  ASSERT_THAT(component.grants, SizeIs(2));
  EXPECT_THAT(component.grants[0].rules, ElementsAre(R({""}, {"pods"}, {"get", "list"})));
  EXPECT_EQ(component.grants[1].ns, "n");
  EXPECT_THAT(component.grants[1].rules, ElementsAre(R({""}, {"pods"}, {"delete"})));
}

bool Allows(const std::vector<Rule>& rules, const Attributes& request) {
  return std::any_of(rules.begin(), rules.end(),
                     [&](const Rule& rule) { return rbac::RuleAllows(rule, request); });
}

// For any rules in any order, the answer to every request stays the same.
TEST(MinimalRules, KeepsTheAnswerToEveryRequest) {
  std::mt19937 random(1707);
  const std::vector<std::string> groups = {"", "apps", "batch", "*"};
  const std::vector<std::string> resources = {"pods",  "pods/log", "jobs",  "jobs/log",
                                              "*/log", "*",        "pods/*"};
  const std::vector<std::string> names = {"x", "y", ""};
  const std::vector<std::string> verbs = {"get", "list", "create", "*"};
  const std::vector<std::string> urls = {"/a", "/a/*", "/a/b", "/a/**", "*", "/*"};
  const auto pick = [&](const std::vector<std::string>& from, int least) {
    std::vector<std::string> picked;
    const int n = least + static_cast<int>(random() % 3);
    // The last items allow the most. They are picked seldom, or nearly every request would be
    // allowed.
    for (int i = 0; i < n; ++i) {
      picked.push_back(from[random() % (random() % 6 == 0 ? from.size() : from.size() - 1)]);
    }
    return picked;
  };
  std::vector<Attributes> requests;
  for (const char* verb : {"get", "list", "create", "delete"}) {
    for (const char* path : {"/", "/a", "/a/", "/a/b", "/a/bc", "/b"}) {
      Attributes ask;
      ask.verb = verb;
      ask.is_resource_request = false;
      ask.path = path;
      requests.push_back(ask);
    }
    for (const char* group : {"", "apps", "batch", "other"}) {
      for (const char* resource : {"pods", "jobs", "nodes"}) {
        for (const char* subresource : {"", "log", "status"}) {
          for (const char* name : {"", "x", "y", "z"}) {
            Attributes ask;
            ask.verb = verb;
            ask.api_group = group;
            ask.resource = resource;
            ask.subresource = subresource;
            ask.name = name;
            requests.push_back(ask);
          }
        }
      }
    }
  }
  size_t allowed = 0, shorter = 0;
  for (int round = 0; round < 500; ++round) {
    std::vector<Rule> rules;
    for (size_t i = 0, n = 1 + random() % 7; i < n; ++i) {
      rules.push_back(random() % 4 == 0
                          ? Url(pick(urls, 1), pick(verbs, 1))
                          : R(pick(groups, 1), pick(resources, 1), pick(verbs, 1), pick(names, 0)));
    }
    const std::vector<Rule> minimal = MinimalRules(rules);
    shorter += minimal.size() < rules.size() ? 1 : 0;
    for (const Attributes& request : requests) {
      const bool before = Allows(rules, request);
      allowed += before ? 1 : 0;
      ASSERT_EQ(Allows(minimal, request), before)
          << "round " << round << ": " << request.verb << " " << request.api_group << "/"
          << request.resource << "/" << request.subresource << " " << request.name << request.path;
    }
    std::shuffle(rules.begin(), rules.end(), random);
    ASSERT_EQ(MinimalRules(rules), minimal) << "round " << round;
    ASSERT_EQ(MinimalRules(minimal), minimal) << "round " << round;
  }
  // If all requests or none were allowed, the test would prove little.
  EXPECT_GT(allowed, requests.size() * 500 / 20);
  EXPECT_LT(allowed, requests.size() * 500 / 2);
  EXPECT_GT(shorter, 50u);
  EXPECT_THAT(MinimalRules({}), IsEmpty());
}

}  // namespace
}  // namespace mandate::rbacgen
