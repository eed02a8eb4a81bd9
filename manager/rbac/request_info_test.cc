#include "manager/rbac/request_info.h"

#include <ostream>
#include <string>

#include "gtest/gtest.h"

namespace mandate::rbac {

void PrintTo(const Attributes& a, std::ostream* out) {
  *out << "{" << a.verb << " " << a.api_group << "/" << a.api_version << " ns=" << a.ns << " "
       << a.resource << "/" << a.subresource << " name=" << a.name << " path=" << a.path
       << (a.is_resource_request ? "" : " non-resource") << "}";
}

namespace {

struct Case {
  std::string method;
  std::string target;
  std::string verb;
  std::string group;
  std::string version;
  std::string ns;
  std::string resource;
  std::string name = "";
  std::string subresource = "";
};

Attributes Expected(const Case& c) {
  return {.verb = c.verb,
          .is_resource_request = true,
          .api_group = c.group,
          .api_version = c.version,
          .resource = c.resource,
          .subresource = c.subresource,
          .ns = c.ns,
          .name = c.name,
          .path = ""};
}

void Check(std::initializer_list<Case> cases) {
  for (const Case& c : cases) {
    const auto got = AttributesOf(c.method, c.target);
    ASSERT_TRUE(got.ok()) << c.method << " " << c.target << ": " << got.status();
    EXPECT_EQ(*got, Expected(c)) << c.method << " " << c.target;
  }
}

TEST(RequestInfoTest, VerbsOfNamedObjects) {
  const std::string target = "/api/v1/namespaces/shop/pods/web";
  Check({{"GET", target, "get", "", "v1", "shop", "pods", "web"},
         {"HEAD", target, "get", "", "v1", "shop", "pods", "web"},
         {"POST", target, "create", "", "v1", "shop", "pods", "web"},
         {"PUT", target, "update", "", "v1", "shop", "pods", "web"},
         {"PATCH", target, "patch", "", "v1", "shop", "pods", "web"},
         {"DELETE", target, "delete", "", "v1", "shop", "pods", "web"},
         {"OPTIONS", target, "", "", "v1", "shop", "pods", "web"},
         {"get", target, "", "", "v1", "shop", "pods", "web"},
         {"GET", target + "?watch=1", "get", "", "v1", "shop", "pods", "web"},
         {"GET", target + "/", "get", "", "v1", "shop", "pods", "web"}});
}

TEST(RequestInfoTest, VerbsOfCollections) {
  const std::string target = "/apis/apps/v1/namespaces/shop/deployments";
  Check({{"GET", target, "list", "apps", "v1", "shop", "deployments"},
         {"HEAD", target, "list", "apps", "v1", "shop", "deployments"},
         {"GET", target + "?watch=true", "watch", "apps", "v1", "shop", "deployments"},
         {"GET", target + "?watch=1", "watch", "apps", "v1", "shop", "deployments"},
         {"GET", target + "?watch", "watch", "apps", "v1", "shop", "deployments"},
         {"GET", target + "?watch=false", "list", "apps", "v1", "shop", "deployments"},
         {"GET", target + "?watch=0", "list", "apps", "v1", "shop", "deployments"},
         {"HEAD", target + "?watch=1", "watch", "apps", "v1", "shop", "deployments"},
         {"POST", target, "create", "apps", "v1", "shop", "deployments"},
         {"PUT", target, "update", "apps", "v1", "shop", "deployments"},
         {"PATCH", target, "patch", "apps", "v1", "shop", "deployments"},
         {"DELETE", target, "deletecollection", "apps", "v1", "shop", "deployments"},
         {"DELETE", target + "?watch=1", "deletecollection", "apps", "v1", "shop", "deployments"},
         {"GET", "/apis/apps/v1/deployments", "list", "apps", "v1", "", "deployments"},
         {"DELETE", "/api/v1/nodes", "deletecollection", "", "v1", "", "nodes"},
         {"GET", "/api/v1/nodes/n1", "get", "", "v1", "", "nodes", "n1"}});
}

TEST(RequestInfoTest, NamespacesAreInThemselves) {
  Check({{"GET", "/api/v1/namespaces", "list", "", "v1", "", "namespaces"},
         {"POST", "/api/v1/namespaces", "create", "", "v1", "", "namespaces"},
         {"DELETE", "/api/v1/namespaces", "deletecollection", "", "v1", "", "namespaces"},
         {"GET", "/api/v1/namespaces/shop", "get", "", "v1", "shop", "namespaces", "shop"},
         {"DELETE", "/api/v1/namespaces/shop", "delete", "", "v1", "shop", "namespaces", "shop"},
         {"PUT", "/api/v1/namespaces/shop/status", "update", "", "v1", "shop", "namespaces", "shop",
          "status"},
         {"PUT", "/api/v1/namespaces/shop/finalize", "update", "", "v1", "shop", "namespaces",
          "shop", "finalize"},
         // Any other third segment is a resource, whatever its name.
         {"GET", "/api/v1/namespaces/shop/namespaces", "list", "", "v1", "shop", "namespaces"},
         {"GET", "/api/v1/namespaces/shop/scale", "list", "", "v1", "shop", "scale"},
         {"GET", "/api/v1/namespaces/shop/status/x", "get", "", "v1", "shop", "namespaces", "shop",
          "status"},
         // "namespaces" has this meaning in every group.
         {"GET", "/apis/example.com/v1/namespaces/shop", "get", "example.com", "v1", "shop",
          "namespaces", "shop"}});
}

TEST(RequestInfoTest, Subresources) {
  Check({{"GET", "/api/v1/namespaces/shop/pods/web/log", "get", "", "v1", "shop", "pods", "web",
          "log"},
         {"POST", "/api/v1/namespaces/shop/pods/web/eviction", "create", "", "v1", "shop", "pods",
          "web", "eviction"},
         {"POST", "/api/v1/namespaces/shop/serviceaccounts/builder/token", "create", "", "v1",
          "shop", "serviceaccounts", "builder", "token"},
         {"GET", "/api/v1/namespaces/shop/pods/web/proxy/metrics/deep", "get", "", "v1", "shop",
          "pods", "web", "proxy"},
         {"PATCH", "/apis/apps/v1/namespaces/shop/deployments/web/scale", "patch", "apps", "v1",
          "shop", "deployments", "web", "scale"},
         {"GET", "/apis/certificates.k8s.io/v1/certificatesigningrequests/c/approval", "get",
          "certificates.k8s.io", "v1", "", "certificatesigningrequests", "c", "approval"}});
}

TEST(RequestInfoTest, OldPrefixesAreVerbs) {
  Check(
      {{"GET", "/api/v1/watch/pods", "watch", "", "v1", "", "pods"},
       {"GET", "/api/v1/watch/namespaces/shop/pods", "watch", "", "v1", "shop", "pods"},
       {"GET", "/api/v1/watch/namespaces/shop/pods/web", "watch", "", "v1", "shop", "pods", "web"},
       {"DELETE", "/apis/apps/v1/watch/deployments", "watch", "apps", "v1", "", "deployments"},
       {"GET", "/api/v1/proxy/namespaces/shop/pods/web", "proxy", "", "v1", "shop", "pods", "web"},
       // The rest is the proxied path.
       {"GET", "/api/v1/proxy/namespaces/shop/pods/web/some/path", "proxy", "", "v1", "shop",
        "pods", "web"},
       {"GET", "/api/v1/watch/namespaces", "watch", "", "v1", "", "namespaces"},
       // Here a selector does not give the request a name.
       {"GET", "/api/v1/watch/pods?fieldSelector=metadata.name=web", "watch", "", "v1", "", "pods"},
       // As a name, or as a resource after a namespace, "watch" is an ordinary word.
       {"GET", "/api/v1/pods/watch", "get", "", "v1", "", "pods", "watch"},
       {"GET", "/api/v1/namespaces/shop/watch", "list", "", "v1", "shop", "watch"}});
}

TEST(RequestInfoTest, FieldSelectorsGiveListsAName) {
  const std::string pods = "/api/v1/namespaces/shop/pods";
  const std::string by_name = "fieldSelector=metadata.name%3Dweb";
  Check(
      {{"GET", pods + "?" + by_name, "list", "", "v1", "shop", "pods", "web"},
       {"GET", pods + "?watch=1&" + by_name, "watch", "", "v1", "shop", "pods", "web"},
       {"GET", "/api/v1/pods?" + by_name, "list", "", "v1", "", "pods", "web"},
       {"DELETE", pods + "?" + by_name, "deletecollection", "", "v1", "shop", "pods"},
       {"POST", pods + "?" + by_name, "create", "", "v1", "shop", "pods"},
       {"GET", pods + "/db?" + by_name, "get", "", "v1", "shop", "pods", "db"},
       {"GET", pods + "?fieldSelector=spec.nodeName%3Dn&labelSelector=a%3Db", "list", "", "v1",
        "shop", "pods"},
       {"GET", pods + "?watch=1&fieldSelector=metadata.name%3Dweb,foo", "watch", "", "v1", "shop",
        "pods"},
       {"GET", pods + "?watch=0&fieldSelector=metadata.name%3Dweb,foo", "list", "", "v1", "shop",
        "pods"},
       // A name that would be invalid in a path is ignored.
       {"GET", pods + "?fieldSelector=metadata.name%3D..", "list", "", "v1", "shop", "pods"},
       {"GET", pods + "?fieldSelector=metadata.name%3Da/b", "list", "", "v1", "shop", "pods"},
       {"GET", pods + "?fieldSelector=metadata.name%3Da%2525", "list", "", "v1", "shop", "pods"}});
}

TEST(RequestInfoTest, PathsAreDecodedAndSlashesCounted) {
  Check(
      {{"GET", "/api/v1/namespaces/shop/pods/w%65b", "get", "", "v1", "shop", "pods", "web"},
       // Like in the server, the path is decoded before it is split.
       {"GET", "/api/v1/namespaces/shop/pods/a%2Flog", "get", "", "v1", "shop", "pods", "a", "log"},
       {"GET", "/apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Anode", "get",
        "rbac.authorization.k8s.io", "v1", "", "clusterroles", "system:node"},
       {"GET", "/api/v1/nodes/a+b", "get", "", "v1", "", "nodes", "a+b"},
       {"GET", "//api/v1/pods//", "list", "", "v1", "", "pods"},
       {"GET", "/api/v1//pods", "get", "", "v1", "", "", "pods"},
       {"GET", "/api//v1/pods", "get", "", "", "", "v1", "pods"},
       {"GET", "/api/v1/namespaces//pods", "list", "", "v1", "", "pods"},
       {"GET", "/api/v1/namespaces/shop/pods//log", "list", "", "v1", "shop", "pods", "", "log"}});
}

TEST(RequestInfoTest, EverythingElseIsAPath) {
  for (const std::string path :
       {"/", "//", "/api", "/api/", "/api/v1", "/api/v1/", "/apis", "/apis/apps", "/apis/apps/v1",
        "/apis/apps/v1/", "/apis/v1/pods", "/healthz", "/readyz/etcd", "/metrics", "/version",
        "/openapi/v3/api/v1", "/API/v1/pods", "/apix/v1/pods", "/logs/api/v1/pods"}) {
    for (const auto& [method, verb] : {std::pair<std::string, std::string>{"GET", "get"},
                                       {"HEAD", "head"},
                                       {"POST", "post"},
                                       {"OPTIONS", "options"},
                                       {"pAtCh", "patch"}}) {
      Attributes expected;
      expected.verb = verb;
      expected.is_resource_request = false;
      expected.path = path;
      const auto got = AttributesOf(method, path + "?watch=1");
      ASSERT_TRUE(got.ok()) << path << ": " << got.status();
      EXPECT_EQ(*got, expected) << method << " " << path;
    }
  }
  EXPECT_EQ(AttributesOf("GET", "/a%20b").value().path, "/a b");
}

TEST(RequestInfoTest, RefusesWhatTheServerAnswersItself) {
  struct Bad {
    std::string target;
    std::string why;
  };
  for (const Bad& bad :
       {Bad{"", "begin with"}, Bad{"api/v1/pods", "begin with"}, Bad{"*", "begin with"},
        Bad{"/api/v1/pods/%", "hexadecimal"}, Bad{"/api/v1/pods/%zz", "hexadecimal"},
        Bad{"/a\nb", "control character"}, Bad{"/api/v1/watch", "it ends after \"watch\""},
        Bad{"/api/v1/watch/", "it ends after \"watch\""},
        Bad{"/apis/apps/v1/proxy", "it ends after \"proxy\""}}) {
    const auto got = AttributesOf("GET", bad.target);
    EXPECT_EQ(got.status().code(), absl::StatusCode::kInvalidArgument) << bad.target;
    EXPECT_NE(got.status().message().find(bad.why), std::string::npos) << got.status();
  }
}

Attributes OfList(const std::string& query) {
  return AttributesOf("GET", "/api/v1/pods?" + query).value();
}

TEST(ListParametersTest, Watch) {
  for (const char* on :
       {"watch=true", "watch=1", "watch=", "watch", "watch=yes", "watch=TRUE", "watch=2",
        "watch=%31", "limit=x&watch=true", "watch=1&watch=0", "watch=no&labelSelector=,"}) {
    EXPECT_EQ(OfList(on).verb, "watch") << on;
  }
  for (const char* off :
       {"", "watch=false", "watch=0", "watch=False", "watch=FALSE", "Watch=1", "watch=0&watch=1",
        "watch=1;x=2", "watch=%zz", "watc=1", "&&=1", "limit=x&watch=0"}) {
    EXPECT_EQ(OfList(off).verb, "list") << off;
  }
}

TEST(ListParametersTest, Name) {
  const struct {
    std::string query;
    std::string name;
  } cases[] = {
      {"fieldSelector=metadata.name=x", "x"},
      {"fieldSelector=metadata.name==x", "x"},
      {"fieldSelector=metadata.name%3Dx", "x"},
      {"fieldSelector=metadata.name=", ""},
      {"fieldSelector=metadata.name!=x", ""},
      {"fieldSelector=metadata.namespace=x", ""},
      {"fieldSelector=spec.nodeName=n,metadata.name=x", "x"},
      {"fieldSelector=metadata.name=x,,", "x"},
      {"fieldSelector=metadata.name=b,metadata.name=a", "a"},
      {"fieldSelector=metadata.name=a,metadata.name==b", "b"},
      {"fieldSelector=metadata.name=a&fieldSelector=metadata.name=b", "a"},
      {"fieldSelector=foo&fieldSelector=metadata.name=b", ""},
      {"fieldSelector=metadata.name=x,foo", ""},
      {"fieldSelector=metadata.name=a=b", ""},
      {"fieldSelector=metadata.name=x,spec.nodeName=a=b", ""},
      {"fieldSelector=metadata.name=x,zone!=a=b", ""},
      {R"(fieldSelector=metadata.name=a\b,metadata.name=x)", ""},
      {R"(fieldSelector=metadata.name=a\=b)", "a=b"},
      {R"(fieldSelector=metadata.name=a\,b)", "a,b"},
      {R"(fieldSelector=metadata.name=a\\)", R"(a\)"},
      {R"(fieldSelector=metadata.name=a\b)", ""},
      {R"(fieldSelector=metadata.name=a\)", ""},
      {"fieldSelector=+metadata.name=x", ""},
      {"fieldSelector=metadata.name=x+", "x "},
      {"fieldSelector=", ""},
      {"", ""},
      // One malformed parameter makes the server ignore every parameter.
      {"fieldSelector=metadata.name=x&labelSelector=a%3Db", "x"},
      {"fieldSelector=metadata.name=x&labelSelector=,", ""},
      {"fieldSelector=metadata.name=x&limit=500", "x"},
      {"fieldSelector=metadata.name=x&limit=-1", "x"},
      {"fieldSelector=metadata.name=x&limit=%2B1", "x"},
      {"fieldSelector=metadata.name=x&limit=%2B-1", ""},
      {"fieldSelector=metadata.name=x&limit=", ""},
      {"fieldSelector=metadata.name=x&limit=1.5", ""},
      {"fieldSelector=metadata.name=x&limit=%201", ""},
      {"fieldSelector=metadata.name=x&timeoutSeconds=abc", ""},
      {"fieldSelector=metadata.name=x&timeoutSeconds=9223372036854775808", ""},
      {"fieldSelector=metadata.name=x&timeoutSeconds=9223372036854775807", "x"},
      {"fieldSelector=metadata.name=x&resourceVersion=abc&unknown=,", "x"},
      {"fieldSelector=metadata.name=x&watch=maybe&allowWatchBookmarks=maybe", "x"},
  };
  for (const auto& c : cases) EXPECT_EQ(OfList(c.query).name, c.name) << c.query;
}

}  // namespace
}  // namespace mandate::rbac
