// The cost of large instances for themselves and for others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "controllers/scope/testing_cluster.h"
#include "controllers/scope/testing_json.h"

namespace mandate::scope {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

std::string NamesJson(std::string_view prefix, int count) {
  std::string list;
  for (int i = 0; i < count; ++i) StrAppend(&list, i == 0 ? "" : ",", "\"", prefix, i, "\"");
  return "[" + list + "]";
}

// A hundred roles.
std::string ManyRoles() {
  std::string roles;
  for (int i = 0; i < 100; ++i) {
    StrAppend(&roles, i == 0 ? "" : ",", R"({"generateName":"r)", i,
              R"(-","rules":[],"subjects":[{"kind":"User","name":"ann"}]})");
  }
  return "[" + roles + "]";
}

TEST(SizeTest, NamesThatDoNotExistAreSummedUpAndCostNoWrites) {
  ScopeCluster cluster;
  EXPECT_EQ(cluster.Create(kTemplates, TemplateJson("foo", ManyRoles())), 201);
  EXPECT_EQ(cluster.Create(kInstances,
                           InstanceJson("foo", R"("namespaces": )" + NamesJson("none-", 10'000))),
            201);
  cluster.Start();
  cluster.RunFor(absl::Minutes(2));
  EXPECT_THAT(cluster.Scoped(),
              AllOf(StartsWith("False ScopingFailed"), HasSubstr("more namespaces not found")));
  EXPECT_LT(cluster.Scoped().size(), 1000u);
  EXPECT_THAT(cluster.TakeWrites(), Not(Contains(HasSubstr("rolebindings"))));
}

TEST(SizeTest, MoreBindingsThanTheBoundAreReported) {
  InstanceOptions options;
  options.plan.max_bindings = 50;
  ScopeCluster cluster(options);
  EXPECT_EQ(cluster.Create(kTemplates, TemplateJson("foo", ManyRoles())), 201);
  EXPECT_EQ(cluster.Create(kInstances, InstanceJson("foo", R"("namespaces": ["foo"])")), 201);
  cluster.Start();
  cluster.RunFor(absl::Minutes(2));
  EXPECT_THAT(
      cluster.Scoped(),
      AllOf(
          StartsWith("False ScopingFailed"),
          HasSubstr("needs 100 bindings (100 ClusterRoles in 1 namespaces), but the limit is 50")));
  EXPECT_THAT(cluster.Ours(kBindings), IsEmpty());
  EXPECT_GE(cluster.metrics()
                .Counter("mandate_scope_binding_limit_exceeded_total", "",
                         {{"identity", "scope-instance"}})
                .Value(),
            1);
}

// Tests portions: one instance has a thousand grants, and during their writes another instance has
// a revocation.
TEST(SizeTest, ARevocationDoesNotWaitForAnothersGrants) {
  InstanceOptions options;
  options.portion.max_writes = 10;
  options.max_concurrent_reconciles = 1;
  ScopeCluster cluster(options);
  EXPECT_EQ(cluster.Create(kTemplates, TemplateJson("foo", ManyRoles())), 201);
  EXPECT_EQ(cluster.Create(kTemplates, TemplateJson("small", kAnn)), 201);
  EXPECT_EQ(cluster.Create(kInstances, InstanceJson("small", R"("namespaces": ["foo"])", "small")),
            201);
  cluster.Start();
  cluster.Settle();
  ASSERT_EQ(cluster.Ours(kBindings).size(), 1u);

  EXPECT_EQ(cluster.Create(kInstances, InstanceJson("large", R"("namespaceSelector": {})")), 201);
  EXPECT_TRUE(cluster.loop().RunUntil([&] { return cluster.Ours(kBindings).size() > 40; }));
  EXPECT_THAT(cluster.Scoped("large"), Not(StartsWith("True")));
  EXPECT_EQ(cluster.Merge(kInstances, "small", R"({"spec":{"namespaces":["none"]}})"), 200);
  cluster.TakeWrites();
  EXPECT_TRUE(cluster.loop().RunUntil([&] {
    return cluster.Ours(kBindings, "foo").empty() ||
           !std::ranges::any_of(cluster.Ours(kBindings, "foo"),
                                [](const auto& b) { return NameOf(b).starts_with("reader-"); });
  }));
  EXPECT_LT(cluster.TakeWrites().size(), 60u) << "two portions and what came between";
  cluster.RunFor(absl::Minutes(2));
  EXPECT_THAT(cluster.Scoped("large"), StartsWith("True"));
  EXPECT_GE(cluster.metrics()
                .Counter("mandate_scope_portions_total", "", {{"identity", "scope-instance"}})
                .Value(),
            10);
}

// One ClusterRoleBinding replaces three RoleBindings, and they replace it again: no subject loses
// access in between if the grants fit in one portion.
TEST(SizeTest, AMoveOfOnePortionGrantsFirstAndALargerOneRevokesFirst) {
  for (const size_t max_writes : {2, 3}) {
    InstanceOptions options;
    options.portion.max_writes = max_writes;
    ScopeCluster cluster(options);
    EXPECT_EQ(cluster.Create(kTemplates, TemplateJson("foo", kAnn)), 201);
    EXPECT_EQ(
        cluster.Create(kInstances, InstanceJson("foo", R"("namespaces": ["foo","bar","default"])")),
        201);
    cluster.Start();
    cluster.Settle();
    ASSERT_EQ(cluster.Ours(kBindings).size(), 3u);
    cluster.TakeWrites();
    EXPECT_EQ(cluster.Merge(kInstances, "foo", R"({"spec":{"namespaces":null}})"), 200);
    cluster.Settle();
    EXPECT_EQ(cluster.TakeWrites()[0], "PATCH clusterrolebindings");
    EXPECT_EQ(cluster.Ours(kClusterBindings).size(), 1u);
    EXPECT_EQ(cluster.Ours(kBindings).size(), 0u);
    EXPECT_EQ(
        cluster.Merge(kInstances, "foo", R"({"spec":{"namespaces":["foo","bar","default"]}})"),
        200);
    cluster.Settle();
    EXPECT_EQ(cluster.TakeWrites()[0],
              max_writes == 3 ? "PATCH rolebindings bar" : "DELETE clusterrolebindings");
    EXPECT_EQ(cluster.Ours(kClusterBindings).size(), 0u);
    EXPECT_EQ(cluster.Ours(kBindings).size(), 3u);
  }
}

// An event reconciles only the instances that it affects.
TEST(SizeTest, EventReconcilesOnlyAffectedObjects) {
  ScopeCluster cluster;
  EXPECT_EQ(cluster.Create(kTemplates, TemplateJson("foo", kAnn)), 201);
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(cluster.Create(kNamespaces, NamespaceJson(StrCat("n", i))), 201);
    Json::Value instance = InstanceJson(StrCat("i", i), StrCat(R"("namespaces": ["n)", i, "\"]"));
    EXPECT_EQ(cluster.Create(kInstances, instance), 201);
  }
  cluster.Start();
  cluster.RunFor(absl::Minutes(1));
  const auto reconciles = [&](const char* controller) {
    double total = 0;
    for (const char* result : {"success", "error", "requeue", "requeue_after"}) {
      total +=
          cluster.metrics()
              .Counter("controller_runtime_reconcile_total", "",
                       {{"controller", controller}, {"identity", controller}, {"result", result}})
              .Value();
    }
    return total;
  };
  const double instances = reconciles("scope-instance"), templates = reconciles("scope-template");
  ASSERT_GE(instances, 50);
  EXPECT_EQ(cluster.Merge(kNamespaces, "n7", R"({"metadata":{"annotations":{"a":"b"}}})"), 200);
  EXPECT_EQ(cluster.Merge(kNamespaces, "n7", R"({"metadata":{"labels":{"a":"b"}}})"), 200);
  Json::Value role = ParseJson(R"({"apiVersion": "rbac.authorization.k8s.io/v1",
      "kind": "ClusterRole", "metadata": {"name": "somebody"}, "rules": []})")
                         .value();
  EXPECT_EQ(cluster.Create(kRoles, role), 201);
  cluster.Settle();
  EXPECT_EQ(reconciles("scope-instance"), instances + 1) << "i7, for the label";
  EXPECT_EQ(reconciles("scope-template"), templates);
}

}  // namespace
}  // namespace mandate::scope
