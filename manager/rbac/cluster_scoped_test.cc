#include "manager/rbac/cluster_scoped.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace mandate::rbac {
namespace {

TEST(ClusterScopedTest, KnowsTheResourcesOfKubernetes) {
  const struct {
    const char* group;
    const char* resource;
    bool cluster_scoped;
  } rows[] = {
      {"", "namespaces", true},
      {"", "nodes/status", true},
      {"rbac.authorization.k8s.io", "clusterroles", true},
      {"", "pods", false},
      {"", "pods/log", false},
      {"", "*", false},
      {"rbac.authorization.k8s.io", "roles", false},
      {"example.com", "nodes", false},
      {"example.com", "widgets", false},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(IsClusterScoped(row.group, row.resource), row.cluster_scoped)
        << row.group << "/" << row.resource;
  }
}

TEST(ClusterScopedTest, ARuleHasTwoParts) {
  using Strings = std::vector<std::string>;
  const struct {
    Strings groups, resources, in_namespaces, in_the_cluster;
  } rows[] = {
      {{""}, {"nodes", "pods", "pods/log"}, {"pods", "pods/log"}, {"nodes"}},
      {{""}, {"namespaces"}, {}, {"namespaces"}},
      {{"*"}, {"*"}, {"*"}, {}},
      // In one of the groups it may be namespaced.
      {{"", "example.com"}, {"nodes"}, {"nodes"}, {}},
  };
  for (const auto& row : rows) {
    const Rule rule{.verbs = {"list"}, .api_groups = row.groups, .resources = row.resources};
    EXPECT_EQ(NamespacedPart(rule).resources, row.in_namespaces);
    EXPECT_EQ(NamespacedPart(rule).verbs, Strings{"list"});
    EXPECT_EQ(ClusterPart(rule).resources, row.in_the_cluster);
    EXPECT_EQ(ClusterPart(rule).api_groups, row.groups);
  }
  const Rule urls{.verbs = {"get"}, .non_resource_urls = {"/metrics"}};
  EXPECT_EQ(NamespacedPart(urls).non_resource_urls, Strings());
  EXPECT_EQ(ClusterPart(urls), urls);
}

}  // namespace
}  // namespace mandate::rbac
