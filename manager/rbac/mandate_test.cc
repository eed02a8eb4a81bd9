#include "manager/rbac/mandate.h"

#include <string>

#include "gtest/gtest.h"

namespace mandate::rbac {
namespace {

constexpr std::string_view kRead[] = {"get", "list", "watch"};
constexpr std::string_view kWrite[] = {"create", "delete", "deletecollection", "patch"};
constexpr std::string_view kUpdate[] = {"update"};
constexpr std::string_view kGet[] = {"get"};
constexpr std::string_view kCore[] = {""};
constexpr std::string_view kApps[] = {"apps"};
constexpr std::string_view kPods[] = {"pods"};
constexpr std::string_view kDeployments[] = {"deployments"};
constexpr std::string_view kStatus[] = {"deployments/status"};
constexpr std::string_view kSecrets[] = {"secrets"};
constexpr std::string_view kNames[] = {"web"};
constexpr std::string_view kUrls[] = {"/metrics"};

constexpr MandateRule kRules[] = {
    {.rule = {kRead, kCore, kPods, {}, {}}, .ns = {}},
    {.rule = {kUpdate, kApps, kStatus, {}, {}}, .ns = {}},
    {.rule = {kGet, kCore, kSecrets, {}, {}}, .ns = "ops"},
    {.rule = {kWrite, kApps, kDeployments, kNames, {}}, .ns = {}, .external = true},
    {.rule = {kGet, {}, {}, {}, kUrls}, .ns = {}},
};
constexpr Mandate kMandate{"builder", kRules};

static_assert(!MandateRule().external);
static_assert(PermitsSomewhere(kMandate, "list", "", "pods"));
static_assert(!PermitsSomewhere(kMandate, "delete", "", "pods"));
static_assert(!PermitsSomewhere(kMandate, "list", "apps", "pods"));
static_assert(!PermitsSomewhere(kMandate, "get", "", "pods", "log"));
static_assert(PermitsSomewhere(kMandate, "update", "apps", "deployments", "status"));
static_assert(!PermitsSomewhere(kMandate, "update", "apps", "deployments"));
// One namespace, or one name, is enough.
static_assert(PermitsSomewhere(kMandate, "get", "", "secrets"));
static_assert(PermitsSomewhere(kMandate, "patch", "apps", "deployments"));
// Apply creates an object with a name.
static_assert(PermitsSomewhere(kMandate, "create", "apps", "deployments"));
// A deletecollection never has a name.
static_assert(!PermitsSomewhere(kMandate, "deletecollection", "apps", "deployments"));
static_assert(!PermitsSomewhere(Mandate{"idle", {}}, "get", "", "pods"));

Attributes Request(std::string verb, std::string group, std::string resource, std::string ns,
                   std::string name) {
  Attributes request;
  request.verb = std::move(verb);
  request.api_group = std::move(group);
  request.resource = std::move(resource);
  request.ns = std::move(ns);
  request.name = std::move(name);
  return request;
}

TEST(MandateTest, CoversNamespaceAndName) {
  struct Case {
    std::string what;
    Attributes request;
    bool covered;
  };
  const Case cases[] = {
      {"cluster rule, one namespace", Request("get", "", "pods", "a", "p"), true},
      {"cluster rule, all namespaces", Request("list", "", "pods", "", ""), true},
      {"namespace rule, its namespace", Request("get", "", "secrets", "ops", "s"), true},
      {"namespace rule, another", Request("get", "", "secrets", "dev", "s"), false},
      {"namespace rule, all namespaces", Request("get", "", "secrets", "", "s"), false},
      {"name", Request("patch", "apps", "deployments", "a", "web"), true},
      {"another name", Request("patch", "apps", "deployments", "a", "db"), false},
      {"create by POST has no name", Request("create", "apps", "deployments", "a", ""), false},
      {"create by apply has one", Request("create", "apps", "deployments", "a", "web"), true},
      {"deletecollection", Request("deletecollection", "apps", "deployments", "a", ""), false},
      {"a rule that comes later counts", Request("delete", "apps", "deployments", "a", "web"),
       true},
  };
  for (const Case& c : cases) EXPECT_EQ(PermitsRequest(kMandate, c.request), c.covered) << c.what;
}

TEST(MandateTest, UrlsNeedAClusterRule) {
  Attributes url;
  url.verb = "get";
  url.is_resource_request = false;
  url.path = "/metrics";
  EXPECT_TRUE(PermitsRequest(kMandate, url));
  url.path = "/healthz";
  EXPECT_FALSE(PermitsRequest(kMandate, url));

  constexpr MandateRule kLocal[] = {{.rule = {kGet, {}, {}, {}, kUrls}, .ns = "ops"}};
  url.path = "/metrics";
  EXPECT_FALSE(PermitsRequest(Mandate{"local", kLocal}, url));
  url.ns = "ops";
  EXPECT_FALSE(PermitsRequest(Mandate{"local", kLocal}, url)) << "a path has no namespace";
}

}  // namespace
}  // namespace mandate::rbac
