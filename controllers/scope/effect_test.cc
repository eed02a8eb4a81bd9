#include "controllers/scope/effect.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "manager/core/strings.h"

namespace mandate::scope {
namespace {

using Pairs = std::set<std::pair<std::string, std::string>>;
using Strings = std::vector<std::string>;

RoleTemplate Role(const Strings& groups, const Strings& resources, const Strings& urls = {}) {
  RoleTemplate role;
  auto& rule = role.rules.emplace_back();
  for (const std::string& group : groups) rule.add_apigroups(group);
  for (const std::string& resource : resources) rule.add_resources(resource);
  for (const std::string& url : urls) rule.add_nonresourceurls(url);
  return role;
}

TEST(EffectTest, ResourcesToLookUp) {
  struct Row {
    std::string_view name;
    RoleTemplate role;
    Pairs resources;
  };
  const Row rows[] = {
      {"each of each group",
       Role({"", "apps"}, {"a", "b"}),
       {{"", "a"}, {"", "b"}, {"apps", "a"}, {"apps", "b"}}},
      {"a subresource is of its resource", Role({""}, {"pods/log", "pods"}), {{"", "pods"}}},
      {"any group", Role({"*"}, {"nodes"}), {}},
      {"any resource", Role({""}, {"*", "*/status"}), {}},
      {"a namespace's own name", Role({""}, {"namespaces", "namespaces/status"}), {}},
      {"namespaces of another group", Role({"other"}, {"namespaces"}), {{"other", "namespaces"}}},
      {"no resource", Role({}, {}, {"/metrics"}), {}},
  };
  for (const Row& row : rows) EXPECT_EQ(ResourcesOf({row.role}), row.resources) << row.name;
  EXPECT_EQ(ResourcesOf({Role({""}, {"a"}), Role({""}, {"b"})}), (Pairs{{"", "a"}, {"", "b"}}));
}

// A template of 90 KB may have a rule of 25 million groups and resources.
TEST(EffectTest, OfVeryManyTheFirstAreLookedAt) {
  Strings groups, resources;
  for (int i = 0; i < 5'000; ++i) {
    groups.push_back(StrCat("g", i));
    resources.push_back(StrCat("r", i));
  }
  const std::vector<RoleTemplate> roles = {Role(groups, resources), Role({""}, {}, {"/a"})};
  const Pairs first = ResourcesOf(roles);
  EXPECT_EQ(first.size(), 10'000u);
  EXPECT_TRUE(first.contains({"g0", "r0"}));
  EXPECT_EQ(EffectInNamespaces(roles, {{{"g0", "r0"}, Scope::kCluster}}).ineffective,
            (Strings{"/a", "r0.g0"}));
}

TEST(EffectTest, RulesWithoutEffectInARoleBinding) {
  const KnownScopes scopes = {{{"", "nodes"}, Scope::kCluster},
                              {{"", "pods"}, Scope::kNamespaced},
                              {{"", "namespaces"}, Scope::kCluster},
                              {{"storage.k8s.io", "storageclasses"}, Scope::kCluster},
                              {{"asked.io", "later"}, std::nullopt}};
  struct Row {
    std::string_view name;
    RoleTemplate role;
    Strings ineffective;
    bool unknown = false;
  };
  const Row rows[] = {
      {"of a namespace", Role({""}, {"pods", "pods/log"}), {}},
      {"of the cluster", Role({""}, {"pods", "nodes"}), {"nodes"}},
      {"a subresource", Role({""}, {"nodes/proxy"}), {"nodes/proxy"}},
      {"with its group",
       Role({"storage.k8s.io"}, {"storageclasses"}),
       {"storageclasses.storage.k8s.io"}},
      {"paths", Role({}, {}, {"/metrics", "/healthz"}), {"/healthz", "/metrics"}},
      {"a namespace's own name", Role({""}, {"namespaces"}), {}},
      {"everything", Role({"*"}, {"*"}), {}},
      {"not served", Role({"asked.io"}, {"never"}), {}},
      {"not known now", Role({"asked.io"}, {"later"}), {}, true},
      {"not known now, and the rest",
       Role({"asked.io", ""}, {"later", "nodes", "pods"}),
       {"nodes"},
       true},
  };
  for (const Row& row : rows) {
    const Effect effect = EffectInNamespaces({row.role}, scopes);
    EXPECT_EQ(effect.ineffective, row.ineffective) << row.name;
    EXPECT_EQ(effect.unknown, row.unknown) << row.name;
  }
  EXPECT_EQ(EffectInNamespaces({Role({""}, {"nodes"}), Role({""}, {"nodes"}, {"/a"})}, scopes)
                .ineffective,
            (Strings{"/a", "nodes"}));
}

}  // namespace
}  // namespace mandate::scope
