#include "rbacgen/world/builtin_policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "manager/core/strings.h"
#include "manager/rbac/authorizer.h"
#include "rbacgen/world/testing_worlds.h"
#include "rbacgen/world/unresolved.h"

namespace mandate::rbacgen {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

// A world that binds ann to the role in all namespaces, with the documents `more`.
World Bound(std::string_view role, std::string_view more = "") {
  absl::StatusOr<World> world =
      ReadManifests("test",
                    StrCat(R"({apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding,
                 metadata: {name: b}, roleRef: {kind: ClusterRole, name: ")",
                           role, R"("}, subjects: [{kind: User, name: ann}]})", "\n---\n", more),
                    "default");
  EXPECT_TRUE(world.ok()) << world.status();
  AddBuiltinRoles(&*world);
  ResolveAggregates(&*world);
  return world.value_or(World());
}

bool MayAnn(const World& world, std::string_view verb, std::string_view group,
            std::string_view resource) {
  rbac::Attributes request;
  request.is_resource_request = true;
  request.verb = verb;
  request.api_group = group;
  request.resource = resource;
  request.ns = "shop";
  return rbac::Authorizer(world.policy).Authorize(rbac::AuthenticatedInfo("ann"), request).allowed;
}

TEST(BuiltinRoles, AreAddedIfABindingRefersToThem) {
  const struct {
    const char* role;
    bool reads_pods, makes_pods, reads_secrets, makes_roles, deletes_nodes;
  } rows[] = {
      {"cluster-admin", true, true, true, true, true},
      {"admin", true, true, true, true, false},
      {"edit", true, true, true, false, false},
      {"view", true, false, false, false, false},
      {"system:kube-scheduler", true, false, false, false, false},
      {"system:controller:clusterrole-aggregation-controller", false, false, false, false, false},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.role);
    const World world = Bound(row.role);
    EXPECT_THAT(UnresolvedBindings(world), IsEmpty());
    EXPECT_EQ(MayAnn(world, "get", "", "pods"), row.reads_pods);
    EXPECT_EQ(MayAnn(world, "create", "", "pods"), row.makes_pods);
    EXPECT_EQ(MayAnn(world, "get", "", "secrets"), row.reads_secrets);
    EXPECT_EQ(MayAnn(world, "create", "rbac.authorization.k8s.io", "roles"), row.makes_roles);
    EXPECT_EQ(MayAnn(world, "delete", "", "nodes"), row.deletes_nodes);
  }
  EXPECT_TRUE(MayAnn(Bound("system:controller:clusterrole-aggregation-controller"), "escalate",
                     "rbac.authorization.k8s.io", "clusterroles"));
  EXPECT_THAT(UnresolvedBindings(Bound("system:no-such-role")), SizeIs(1));
}

// The server's controller adds the rules of the chart's role to view, and those of view to a role
// of the chart.
TEST(BuiltinRoles, AggregateAndAreAggregatedByRolesOfTheWorld) {
  const World reader = Bound("view", R"({apiVersion: rbac.authorization.k8s.io/v1,
      kind: ClusterRole, metadata: {name: gadgets,
      labels: {rbac.authorization.k8s.io/aggregate-to-view: "true"}},
      rules: [{apiGroups: [g.io], resources: [gadgets], verbs: [get]}]})");
  EXPECT_TRUE(MayAnn(reader, "get", "g.io", "gadgets"));
  EXPECT_TRUE(MayAnn(reader, "get", "", "pods"));
  EXPECT_FALSE(MayAnn(reader, "get", "g.io", "gizmos"));
  const World own = Bound("mine", R"({apiVersion: rbac.authorization.k8s.io/v1,
      kind: ClusterRole, metadata: {name: mine}, aggregationRule: {clusterRoleSelectors: [
      {matchLabels: {rbac.authorization.k8s.io/aggregate-to-view: "true"}}]}})");
  EXPECT_TRUE(MayAnn(own, "get", "", "pods"));
  EXPECT_FALSE(MayAnn(own, "create", "", "pods"));
}

TEST(BuiltinRoles, DoNotReplaceRolesOfTheWorld) {
  const World world = Bound("view", R"({apiVersion: rbac.authorization.k8s.io/v1,
      kind: ClusterRole, metadata: {name: view},
      rules: [{apiGroups: [""], resources: [nodes], verbs: [delete]}]})");
  EXPECT_TRUE(MayAnn(world, "delete", "", "nodes"));
  EXPECT_FALSE(MayAnn(world, "get", "", "pods"));
}

TEST(BuiltinRoles, NamespacedRolesAreOnlyInTheirNamespace) {
  constexpr std::string_view kYaml = R"({apiVersion: rbac.authorization.k8s.io/v1,
      kind: RoleBinding, metadata: {name: b, namespace: NS},
      roleRef: {kind: Role, name: extension-apiserver-authentication-reader},
      subjects: [{kind: User, name: ann}]})";
  for (const char* ns : {"kube-system", "shop"}) {
    std::string yaml(kYaml);
    World world = WorldOf(yaml.replace(yaml.find("NS"), 2, ns));
    AddBuiltinRoles(&world);
    EXPECT_EQ(UnresolvedBindings(world).empty(), std::string_view(ns) == "kube-system") << ns;
  }
}

TEST(BuiltinRoles, AreNotAddedToAWholeCluster) {
  World world;
  world.is_whole = true;
  AddBuiltinRoles(&world);
  AddBuiltinPolicy(&world);
  EXPECT_THAT(world.policy.cluster_roles, IsEmpty());
  EXPECT_THAT(world.accounts, IsEmpty());
}

// Newer versions of Kubernetes added some rights and removed others.
TEST(BuiltinRoles, IncludeThoseOfTheOldestVersion) {
  const auto may = [](const World& world, std::string_view verb, std::string_view group,
                      std::string_view resource) {
    World oldest = world;
    EXPECT_NE(world.in_oldest, nullptr);
    if (world.in_oldest != nullptr) oldest.policy = *world.in_oldest;
    return std::pair(MayAnn(oldest, verb, group, resource), MayAnn(world, verb, group, resource));
  };
  const World view = Bound("view"), expands = Bound("system:controller:expand-controller");
  EXPECT_EQ(may(view, "get", "", "pods"), std::pair(true, true));
  EXPECT_EQ(may(view, "get", "resource.k8s.io", "resourceclaims"), std::pair(false, true));
  EXPECT_EQ(may(view, "create", "", "pods"), std::pair(false, false));
  EXPECT_EQ(may(expands, "get", "", "secrets"), std::pair(true, false));
  const World own = Bound("own", R"({apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole,
      metadata: {name: own}, rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]})");
  EXPECT_EQ(own.in_oldest, nullptr);
}

TEST(BuiltinPolicy, HasTheRulesOfBothVersions) {
  World world;
  AddBuiltinPolicy(&world);
  ResolveAggregates(&world);
  const auto& roles = world.policy.cluster_roles;
  for (const auto& [role, resource] :
       {std::pair("system:controller:expand-controller", "secrets"),      // only in 1.30
        std::pair("system:kube-scheduler", "resourceclaims/binding")}) {  // only in 1.36
    const auto found = std::ranges::find(roles, role, [](const auto& r) { return r.name; });
    ASSERT_NE(found, roles.end());
    EXPECT_TRUE(std::ranges::any_of(found->rules, [&](const rbac::Rule& rule) {
      return std::ranges::find(rule.resources, resource) != rule.resources.end();
    })) << role;
  }
}

TEST(BuiltinPolicy, HasTheAccountsOfControllers) {
  World world = WorldOf(R"({apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding,
      metadata: {name: cluster-admin}, roleRef: {kind: ClusterRole, name: mine}, subjects: []})");
  AddBuiltinPolicy(&world);
  EXPECT_TRUE(world.accounts.contains({"kube-system", "clusterrole-aggregation-controller"}));
  rbac::Attributes request;
  request.is_resource_request = true;
  request.verb = "escalate";
  request.api_group = "rbac.authorization.k8s.io";
  request.resource = "clusterroles";
  EXPECT_TRUE(
      rbac::Authorizer(world.policy)
          .Authorize(rbac::ServiceAccountInfo("kube-system", "clusterrole-aggregation-controller"),
                     request)
          .allowed);
  const auto own = [](const auto& binding) { return binding.name == "cluster-admin"; };
  const auto& bindings = world.policy.cluster_role_bindings;
  EXPECT_EQ(std::ranges::count_if(bindings, own), 1);
  EXPECT_EQ(std::ranges::find_if(bindings, own)->role_ref.name, "mine");
}

}  // namespace
}  // namespace mandate::rbacgen
