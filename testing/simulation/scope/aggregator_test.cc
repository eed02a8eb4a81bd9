#include "testing/simulation/scope/aggregator.h"

#include <gtest/gtest.h>

#include "manager/object/json.h"

namespace mandate::simulation {
namespace {

TEST(AggregatorTest, GivesTheSelectedRolesRules) {
  SimulatedLoop loop;
  Cluster cluster(loop, 1);
  const Aggregator aggregator(cluster);
  ASSERT_EQ(cluster.Create(ClusterRoles(),
                           *ParseJson(
                               R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole",
                    "metadata":{"name":"all"},"rules":[],"aggregationRule":{
                    "clusterRoleSelectors":[{"matchLabels":{"to":"all"}}]}})")),
            201);
  ASSERT_EQ(cluster.Create(ClusterRoles(),
                           *ParseJson(
                               R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole",
                    "metadata":{"name":"one","labels":{"to":"all"}},
                    "rules":[{"verbs":["get"],"apiGroups":[""],"resources":["pods"]}]})")),
            201);
  ASSERT_EQ(cluster.Merge(ClusterRoles(), "", "all", R"({"metadata":{"labels":{"a":"b"}}})"), 200);
  loop.RunFor(absl::Seconds(1));
  EXPECT_EQ(cluster.Get(ClusterRoles(), "", "all")["rules"],
            cluster.Get(ClusterRoles(), "", "one")["rules"]);
  EXPECT_EQ(aggregator.writes(), 1);
}

}  // namespace
}  // namespace mandate::simulation
