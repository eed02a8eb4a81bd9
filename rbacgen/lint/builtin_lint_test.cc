#include "rbacgen/lint/builtin_lint.h"

#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace mandate::rbacgen {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Declaration Of(const std::string& arguments) {
  Sources sources;
  Diagnostics diagnostics;
  ReadDeclarations("a.cc", "// +kubebuilder:rbac:" + arguments, Severity::kError, &sources,
                   &diagnostics);
  EXPECT_EQ(diagnostics.Report(), "");
  return sources.declarations.at(0);
}

std::vector<std::string> Found(const std::string& arguments) {
  std::vector<std::string> found;
  LintBuiltins(Of(arguments), &found);
  return found;
}

TEST(LintBuiltins, ReportsRulesThatGrantNothing) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"groups=apps,resources=deployment,verbs=get",
       "unknown resource \"deployment\" in group apps; did you mean \"deployments\" in group "
       "apps?"},
      {"groups=core,resources=deployments,verbs=get",
       "unknown resource \"deployments\" in the core group; it is in group apps"},
      {"groups=\"\",resources=pods/state,verbs=get", "did you mean \"pods/status\""},
      {"groups=networking.k8s.io,resources=ingress,verbs=get", "did you mean \"ingresses\""},
      {"groups=\"\",resources=nodes,verbs=get,namespace=n",
       "nodes are cluster-scoped: a Role in n grants nothing on them"},
      {"groups=\"\",resources=namespaces,verbs=list,namespace=n", "namespaces are cluster-scoped"},
      {"groups=authentication.k8s.io,resources=tokenreviews,verbs=get",
       "tokenreviews does not support verb \"get\"; it supports only create"},
      {"groups=\"\",resources=pods/log,verbs=update", "pods/log does not support verb \"update\""},
      {"groups=apps,resources=deployments,verbs=bind", "applies only to roles and clusterroles"},
      {"groups=apps,resources=deployments,verbs=lst",
       "unknown verb \"lst\"; did you mean \"list\"?"},
      {"groups=example.com,resources=widgets,verbs=wathc",
       "unknown verb \"wathc\"; did you mean \"watch\"?"},
  };
  for (const auto& [arguments, want] : cases) {
    EXPECT_THAT(Found(arguments), ElementsAre(HasSubstr(want))) << arguments;
  }
}

TEST(LintBuiltins, AcceptsSupportedRules) {
  for (const char* good : {
           "groups=\"\";apps,resources=pods;deployments,verbs=get;list",
           "groups=\"\",resources=pods;pods/log,verbs=get;list",
           "groups=\"\",resources=pods/exec;serviceaccounts/token,verbs=create",
           "groups=apps,resources=deployments/finalizers,verbs=update",
           "groups=apps,resources=deployments/finalizers,verbs=update,namespace=n",
           "groups=\"\",resources=namespaces,verbs=get,namespace=n",
           "groups=\"\",resources=namespaces,verbs=update,namespace=n",
           "groups=\"\",resources=namespaces,verbs=patch,namespace=n",
           "groups=\"\",resources=namespaces,verbs=delete,namespace=n",
           "groups=\"\",resources=namespaces/status,verbs=get,namespace=n",
           "groups=rbac.authorization.k8s.io,resources=clusterroles,verbs=bind,namespace=n",
           "groups=rbac.authorization.k8s.io,resources=roles;clusterroles,verbs=escalate;bind",
           "groups=\"\",resources=users;groups;serviceaccounts,verbs=impersonate",
           "groups=authentication.k8s.io,resources=userextras/scopes,verbs=impersonate",
           "groups=authentication.k8s.io,resources=serviceaccounts,"
           "verbs=impersonate:serviceaccount,namespace=n",
           "groups=\"\",resources=pods,verbs=impersonate-on:serviceaccount:get",
           "groups=certificates.k8s.io,resources=signers,verbs=approve;sign",
           "groups=\"\",resources=nodes/metrics;nodes/stats,verbs=get",
           "groups=\"\",resources=*,verbs=frobnicate",
           "groups=example.com,resources=deployment,verbs=frobnicate",
           "groups=\"\";example.com,resources=widgets,verbs=get",
           // Mistakes that other checks report.
           "groups=\"\",resources=Pods,verbs=Get",
           "urls=/x,verbs=get",
       }) {
    EXPECT_THAT(Found(good), IsEmpty()) << good;
    EXPECT_THAT(DoubtfulBuiltins(Of(good)), IsEmpty()) << good;
  }
}

TEST(DoubtfulBuiltins, ReportUnknownResourcesWithoutASimilarName) {
  EXPECT_THAT(
      DoubtfulBuiltins(Of("groups=apps,resources=frobnicators,verbs=get")),
      ElementsAre(HasSubstr("unknown resource \"frobnicators\" in group apps of Kubernetes")));
  EXPECT_THAT(Found("groups=apps,resources=frobnicators,verbs=get"), IsEmpty());
  EXPECT_THAT(DoubtfulBuiltins(Of("groups=apps,resources=frobnicators/finalizers,verbs=update")),
              ElementsAre(HasSubstr("unknown resource \"frobnicators/finalizers\" in group apps")));
}

}  // namespace
}  // namespace mandate::rbacgen
