#include <gtest/gtest.h>

#include "manager/client/rest_client.h"
#include "manager/rbac/request_info.h"

namespace mandate {
namespace {

constexpr KindInfo kPod = {.group = "", .version = "v1", .kind = "Pod", .plural = "pods"};
constexpr KindInfo kRoleBinding = {.group = "rbac.authorization.k8s.io",
                                   .version = "v1",
                                   .kind = "RoleBinding",
                                   .plural = "rolebindings"};
constexpr KindInfo kClusterRole = {.group = "rbac.authorization.k8s.io",
                                   .version = "v1",
                                   .kind = "ClusterRole",
                                   .plural = "clusterroles",
                                   .scope = Scope::kCluster};

struct Case {
  KindInfo kind;
  ObjectKey key;
  std::string_view subresource;
  std::vector<std::pair<std::string, std::string>> query;
  std::string_view target;
};

TEST(ResourceTargetTest, Table) {
  const Case kCases[] = {
      {kPod, {"", ""}, "", {}, "/api/v1/pods"},
      {kPod, {"foo", ""}, "", {}, "/api/v1/namespaces/foo/pods"},
      {kPod, {"foo", "web"}, "", {}, "/api/v1/namespaces/foo/pods/web"},
      {kPod, {"foo", "web"}, "log", {}, "/api/v1/namespaces/foo/pods/web/log"},
      {kRoleBinding,
       {"foo", "bar"},
       "",
       {{"fieldManager", "scope-instance"}, {"force", "true"}},
       "/apis/rbac.authorization.k8s.io/v1/namespaces/foo/rolebindings/bar"
       "?fieldManager=scope-instance&force=true"},
      {kPod,
       {"", ""},
       "",
       {{"labelSelector", "app in (a,b),!c=ü"}, {"continue", "ey+/="}},
       "/api/v1/pods?labelSelector=app%20in%20%28a%2Cb%29%2C%21c%3D%C3%BC&continue=ey%2B%2F%3D"},
      // A cluster-scoped object has no namespace, whatever the key says.
      {kClusterRole,
       {"foo", "system:node"},
       "",
       {},
       "/apis/rbac.authorization.k8s.io/v1/clusterroles/system:node"},
      // A name with any characters stays one segment.
      {kPod, {"a/b", "..?x=#%"}, "", {}, "/api/v1/namespaces/a%2Fb/pods/..%3Fx%3D%23%25"},
      {kPod, {"foo", ".."}, "", {}, "/api/v1/namespaces/foo/pods/%2E%2E"},
      {kPod, {".", "web"}, "", {}, "/api/v1/namespaces/%2E/pods/web"},
      // The ends of each range that needs no escape, and their neighbours.
      {kPod, {"foo", "azAZ09-_~"}, "", {}, "/api/v1/namespaces/foo/pods/azAZ09-_~"},
      {kPod, {"foo", "@[`{"}, "", {}, "/api/v1/namespaces/foo/pods/%40%5B%60%7B"},
      {kPod, {"foo", "a.b"}, "", {}, "/api/v1/namespaces/foo/pods/a.b"},
  };
  for (const Case& c : kCases) {
    EXPECT_EQ(ResourceTarget(c.kind, c.key, c.subresource, c.query), c.target);
  }
}

// The server reads the intended name.
TEST(ResourceTargetTest, TheServerReadsTheNameBack) {
  for (const char* name : {"web", "system:node", "a%2Fb", "ü", "a b", "..x"}) {
    const auto request = rbac::AttributesOf("GET", ResourceTarget(kPod, {"foo", name}));
    ASSERT_TRUE(request.ok()) << request.status();
    EXPECT_EQ(request->name, name);
    EXPECT_EQ(request->ns, "foo");
    EXPECT_EQ(request->resource, "pods");
  }
}

TEST(RestRequestTest, ItsTextHidesTheTokenOfAList) {
  struct {
    const char *target, *text;
  } const rows[] = {
      {"/api/v1/pods", "GET /api/v1/pods"},
      {"/api/v1/pods?limit=500&continue=eyJ2", "GET /api/v1/pods?limit=500&continue=***"},
      {"/api/v1/pods?continue=eyJ2&limit=500", "GET /api/v1/pods?continue=***&limit=500"},
      {"/api/v1/pods?continue=", "GET /api/v1/pods?continue=***"},
      {"/api/v1/pods?discontinue=1", "GET /api/v1/pods?discontinue=1"},
  };
  for (const auto& row : rows) {
    RestRequest request;
    request.method = "GET";
    request.target = row.target;
    EXPECT_EQ(request.ToString(), row.text);
  }
}

}  // namespace
}  // namespace mandate
