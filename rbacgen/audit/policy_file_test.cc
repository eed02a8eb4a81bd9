#include "rbacgen/audit/policy_file.h"

#include "gtest/gtest.h"

namespace mandate::rbacgen {
namespace {

rbac::Attributes Request(std::string verb, std::string group, std::string resource,
                         std::string subresource = "", std::string ns = "", std::string name = "") {
  rbac::Attributes a;
  a.verb = std::move(verb);
  a.api_group = std::move(group);
  a.resource = std::move(resource);
  a.subresource = std::move(subresource);
  a.ns = std::move(ns);
  a.name = std::move(name);
  return a;
}

constexpr char kPolicy[] = R"(
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: None
  verbs: [get, update]
  resources: [{group: coordination.k8s.io, resources: [leases]}]
- level: None
  users: ["system:serviceaccount:ns:quiet"]
- level: None
  resources: [{group: "", resources: ["pods/*", "*/token"]}]
- level: None
  resources: [{group: "*", resources: [everywhere]}]
- level: None
  namespaces: [silent]
- level: None
  resources: [{group: "", resources: [configmaps], resourceNames: [noise]}]
- level: None
  nonResourceURLs: ["/healthz*"]
- level: Metadata
  verbs: [watch]
  omitStages: [ResponseStarted]
- level: Metadata
  userGroups: ["system:serviceaccounts:ns"]
)";

TEST(AuditPolicyFile, FirstMatchingRuleDecidesWhetherARequestIsLogged) {
  const auto policy = AuditPolicyFile::Parse(kPolicy);
  ASSERT_TRUE(policy.ok()) << policy.status();
  const auto a = rbac::ServiceAccountInfo("ns", "a");
  rbac::Attributes url;
  url.verb = "get";
  url.is_resource_request = false;
  url.path = "/healthz/etcd";
  EXPECT_FALSE(policy->Logs(a, url));
  url.path = "/version";
  EXPECT_TRUE(policy->Logs(a, url));
  EXPECT_FALSE(policy->Logs(a, Request("update", "coordination.k8s.io", "leases")));
  EXPECT_TRUE(policy->Logs(a, Request("create", "coordination.k8s.io", "leases")));
  EXPECT_TRUE(policy->Logs(a, Request("get", "", "nodes")));
  EXPECT_FALSE(policy->Logs(a, Request("get", "", "pods")));
  EXPECT_FALSE(policy->Logs(a, Request("get", "", "pods", "log")));
  EXPECT_FALSE(policy->Logs(a, Request("create", "", "serviceaccounts", "token")));
  EXPECT_FALSE(policy->Logs(a, Request("get", "", "secrets", "", "silent")));
  EXPECT_TRUE(policy->Logs(a, Request("get", "", "secrets", "", "loud")));
  EXPECT_FALSE(policy->Logs(a, Request("get", "", "configmaps", "", "x", "noise")));
  EXPECT_TRUE(policy->Logs(a, Request("get", "", "configmaps", "", "x", "music")));
  EXPECT_FALSE(policy->Logs(a, Request("get", "g.io", "everywhere")));
  EXPECT_FALSE(policy->Logs(a, Request("watch", "", "nodes")));
  EXPECT_FALSE(policy->Logs(rbac::ServiceAccountInfo("ns", "quiet"), Request("get", "", "pods")));
  // No rule matches, so the level is None.
  EXPECT_FALSE(policy->Logs(rbac::ServiceAccountInfo("other", "a"), Request("get", "", "pods")));
}

TEST(AuditPolicyFile, RejectsInvalidPolicies) {
  for (const char* text : {"", "[]", "kind: Policy", "{kind: Policy, apiVersion: v1}", "a: [",
                           "{kind: Policy, apiVersion: audit.k8s.io/v1, rules: [{level: All}]}"}) {
    EXPECT_FALSE(AuditPolicyFile::Parse(text).ok()) << text;
  }
  EXPECT_TRUE(AuditPolicyFile::Parse("{kind: Policy, apiVersion: audit.k8s.io/v1}").ok());
}

}  // namespace
}  // namespace mandate::rbacgen
