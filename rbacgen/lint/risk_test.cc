#include "rbacgen/lint/risk.h"

#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rbacgen/markers/declarations.h"

namespace mandate::rbacgen {
namespace {

using testing::HasSubstr;

std::optional<std::string> RiskOf(const std::string& arguments) {
  Sources sources;
  Diagnostics diagnostics;
  ReadDeclarations("a.cc", "// +kubebuilder:rbac:" + arguments, Severity::kError, &sources,
                   &diagnostics);
  EXPECT_EQ(diagnostics.Report(), "");
  return Risk(sources.declarations.at(0).rule);
}

TEST(Risk, DescribesRiskyRules) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"groups=g,resources=r,verbs=get;*", "verb \"*\""},
      {"groups=g,resources=r,verbs=escalate", "verb \"escalate\""},
      {"groups=g,resources=r,resourceNames=x,verbs=bind", "verb \"bind\""},
      {"groups=\"\",resources=users,verbs=impersonate", "verb \"impersonate\""},
      {"groups=g,resources=r,verbs=impersonate-on:serviceaccount:get", "impersonate-on"},
      {"groups=*,resources=r,verbs=get", "group \"*\""},
      {"groups=g,resources=*,verbs=get", "resource \"*\""},
      {"groups=g,resources=*/scale,verbs=get", "resource \"*/scale\""},
      {"urls=*,verbs=get", "every URL"},
      {"urls=/*,verbs=get", "every URL"},
      {"urls=/**,verbs=get", "every URL"},
      {"urls=/metrics;***,verbs=get", "every URL"},
      {"groups=\"\",resources=serviceaccounts/token,verbs=create",
       "create on serviceaccounts/token"},
      {"groups=core,resources=secrets,verbs=create;list", "list on secrets"},
      {"groups=core,resources=pods/exec,verbs=create",
       "create on pods/exec (runs commands in any pod there)"},
      {"groups=core,resources=secrets,verbs=update", "update on secrets (replaces credentials"},
      {"groups=core;apps,resources=deployments,verbs=get;patch", "patch on deployments (runs as"},
      {"urls=/debug/*,verbs=get", "a URL that reads the API server's memory"},
      {"groups=\"\",resources=pods/attach,verbs=get", "get on pods/attach"},
      {"groups=\"\",resources=pods/portforward,verbs=create", "create on pods/portforward"},
      {"groups=\"\",resources=pods/ephemeralcontainers,verbs=patch", "patch on pods/ephemeral"},
      {"groups=\"\",resources=services/proxy,verbs=get", "get on services/proxy"},
      {"groups=\"\",resources=nodes;nodes/proxy,verbs=get", "get on nodes/proxy"},
      {"groups=admissionregistration.k8s.io,resources=mutatingwebhookconfigurations,verbs=patch",
       "patch on mutatingwebhookconfigurations"},
      {"groups=admissionregistration.k8s.io,resources=validatingadmissionpolicybindings,"
       "verbs=delete",
       "delete on validatingadmissionpolicybindings"},
      {"groups=certificates.k8s.io,resources=certificatesigningrequests/approval,verbs=update",
       "update on certificatesigningrequests/approval"},
      {"groups=certificates.k8s.io,resources=signers,resourceNames=a.io/b,verbs=sign",
       "sign on signers"},
      {"groups=\"\",resources=pods;secrets,resourceNames=x,verbs=get", "get on secrets"},
  };
  for (const auto& [arguments, want] : cases) {
    EXPECT_THAT(RiskOf(arguments).value_or("none"), HasSubstr(want)) << arguments;
  }
  for (const char* plain : {
           "groups=g,resources=secrets,verbs=get",
           "groups=\"\",resources=secrets,verbs=delete",
           "groups=\"\",resources=serviceaccounts,verbs=get;patch",
           "groups=core,resources=configmaps,verbs=get;list;watch;create;update;patch;delete",
           "groups=g,resources=r,verbs=get;list;watch;create;update;patch;delete",
           "urls=/metrics,verbs=get",
           "urls=/,verbs=get",
           "urls=/healthz/**,verbs=get",
           "groups=\"\",resources=pods/ephemeralcontainers,verbs=get",
           "groups=admissionregistration.k8s.io,resources=validatingadmissionpolicies,"
           "verbs=get;list;watch",
           "groups=g,resources=pods/exec,verbs=create",
       }) {
    EXPECT_EQ(RiskOf(plain), std::nullopt) << plain;
  }
}

}  // namespace
}  // namespace mandate::rbacgen
