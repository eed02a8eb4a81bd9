#include "manager/client/served_by.h"

#include <gtest/gtest.h>

namespace mandate {
namespace {

TEST(ServedByTest, OnlyBuiltInGroupsAreCertain) {
  for (const std::string_view target :
       {"/version", "/api/v1/pods?limit=5", "/apis", "/apis/apps/v1/deployments",
        "/apis/rbac.authorization.k8s.io/v1/clusterroles", "/apis/events.k8s.io/v1/events",
        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
        "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas",
        "/apis/coordination.k8s.io?timeout=1s"}) {
    EXPECT_TRUE(IsServedByApiServer(target)) << target;
  }
  for (const std::string_view target :
       {"/apis/metrics.k8s.io/v1beta1/pods", "/apis/things.example.com/v1/things",
        "/apis/operators.coreos.com/v1alpha1/scopeinstances", "/apis/x.events.k8s.io/v1/events",
        "/apis/apps.example.com?x=/apis/apps"}) {
    EXPECT_FALSE(IsServedByApiServer(target)) << target;
  }
}

}  // namespace
}  // namespace mandate
