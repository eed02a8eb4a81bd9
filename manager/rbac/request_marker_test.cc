#include "manager/rbac/request_marker.h"

#include <gtest/gtest.h>

#include "manager/rbac/request_info.h"

namespace mandate::rbac {
namespace {

TEST(MarkerForTest, AllowsTheRequestAndNoOther) {
  const struct {
    const char* method;
    const char* target;
    const char* marker;  // after "// +kubebuilder:rbac:"
  } kRows[] = {
      {"GET", "/api/v1/secrets", "groups=core,resources=secrets,verbs=list"},
      {"GET", "/api/v1/namespaces/foo/secrets",
       "groups=core,resources=secrets,verbs=list,namespace=foo"},
      {"GET", "/api/v1/namespaces/foo/secrets/bar",
       "groups=core,resources=secrets,verbs=get,namespace=foo,resourceNames=bar"},
      {"PATCH", "/apis/apps/v1/namespaces/foo/deployments/bar/status",
       "groups=apps,resources=deployments/status,verbs=patch,namespace=foo,resourceNames=bar"},
      {"GET", "/api/v1/namespaces/foo",
       "groups=core,resources=namespaces,verbs=get,"
       "resourceNames=foo"},
      {"POST", "/api/v1/namespaces/foo/secrets",
       "groups=core,resources=secrets,verbs=create,namespace=foo"},
      {"POST", "/api/v1/namespaces/foo/serviceaccounts/bar/token",
       "groups=core,resources=serviceaccounts/token,verbs=create,namespace=foo,resourceNames=bar"},
      {"GET", "/apis/rbac.authorization.k8s.io/v1/clusterroles/system:node",
       "groups=rbac.authorization.k8s.io,resources=clusterroles,verbs=get,"
       "resourceNames=system:node"},
      {"GET", "/apis/rbac.authorization.k8s.io/v1/clusterroles/a,b%22c",
       "groups=rbac.authorization.k8s.io,resources=clusterroles,verbs=get,"
       R"(resourceNames="a,b\"c")"},
      {"GET", "/debug/pprof", "urls=/debug/pprof,verbs=get"},
  };
  for (const auto& row : kRows) {
    const absl::StatusOr<Attributes> request = AttributesOf(row.method, row.target);
    ASSERT_TRUE(request.ok()) << request.status();
    EXPECT_EQ(MarkerFor(*request, request->verb), std::string("// +kubebuilder:rbac:") + row.marker)
        << row.method << " " << row.target;
  }
}

TEST(MarkerForTest, MayNameOtherVerbs) {
  Attributes request;
  request.resource = "pods";
  request.ns = "foo";
  EXPECT_EQ(MarkerFor(request, "list;watch"),
            "// +kubebuilder:rbac:groups=core,resources=pods,verbs=list;watch,namespace=foo");
}

}  // namespace
}  // namespace mandate::rbac
