// The runtime's table of cluster-scoped resources, compared with Kubernetes' discovery.
#include "manager/rbac/cluster_scoped.h"

#include <gtest/gtest.h>

#include "rbacgen/lint/builtin_resources.h"

namespace mandate::rbacgen {
namespace {

TEST(ClusterScopedTest, IsThatOfTheDiscovery) {
  size_t cluster_scoped = 0;
  for (const BuiltinResource& r : BuiltinResources()) {
    // Rights on identities and signers: no server serves these as resources.
    const bool served = r.verbs.find("impersonate") == r.verbs.npos && r.resource != "signers";
    if (!served) continue;
    EXPECT_EQ(rbac::IsClusterScoped(r.group, r.resource), !r.namespaced)
        << r.group << "/" << r.resource;
    if (!r.namespaced) ++cluster_scoped;
  }
  EXPECT_GE(cluster_scoped, 39u);
}

}  // namespace
}  // namespace mandate::rbacgen
