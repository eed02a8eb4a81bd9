#include "rbacgen/lint.h"

#include <string>
#include <string_view>
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

TEST(Lint, AcceptsWhatWorks) {
  for (const char* good : {
           "groups=apps,resources=deployments;deployments/scale,verbs=get;list;watch",
           "groups=\"\",resources=configmaps,resourceNames=x,verbs=get;update;list;watch",
           "groups=\"\",resources=configmaps,resourceNames=x,verbs=create;patch",
           "groups=\"\",resources=serviceaccounts/token,resourceNames=x,verbs=create",
           "groups=*,resources=*;*/scale,verbs=*",
           "groups=authentication.k8s.io,resources=serviceaccounts,"
           "verbs=impersonate-on:serviceaccount:get;impersonate:serviceaccount",
           "urls=/metrics,verbs=get",
       }) {
    EXPECT_THAT(Lint(Of(good)), IsEmpty()) << good;
  }
}

TEST(Lint, SaysWhatIsRefusedOrIgnored) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"groups=g,resources=r,verbs=", "no verbs"},
      {"urls=/x,verbs=get,namespace=n", "urls in a Role (namespace=n)"},
      {"urls=/x,groups=g,resources=r,verbs=get", "urls together with groups"},
      {"groups=g,verbs=get", "neither resources nor urls"},
      {"resources=r,verbs=get", "resources without groups"},
      {"groups=\"\",resources=pods/*,verbs=get", "\"pods/*\" matches nothing"},
      {"groups=\"\",resources=\"\",verbs=get", "an empty resource"},
      {"groups=\"\",resources=Pods,verbs=get", "resource \"Pods\" has capitals"},
      {"groups=\"\",resources=pods,verbs=Get", "verb \"Get\" has capitals"},
      {"groups=\"\",resources=pods,verbs=\"\"", "an empty verb"},
      {"groups=\"\",resources=pods,resourceNames=x,verbs=get;create", "create with resourceNames"},
      {"groups=\"\",resources=pods,resourceNames=x,verbs=deletecollection",
       "deletecollection with resourceNames"},
  };
  for (const auto& [arguments, want] : cases) {
    EXPECT_THAT(Lint(Of(arguments)), ElementsAre(HasSubstr(want))) << arguments;
  }
}

TEST(Risk, NamesWhatIsStrong) {
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
      {"groups=\"\",resources=serviceaccounts/token,verbs=create", "creating tokens"},
      {"groups=core,resources=secrets,verbs=create;list", "list on secrets"},
      {"groups=\"\",resources=pods;secrets,resourceNames=x,verbs=get", "get on secrets"},
  };
  for (const auto& [arguments, want] : cases) {
    EXPECT_THAT(Risk(Of(arguments)).value_or("none"), HasSubstr(want)) << arguments;
  }
  for (const char* plain : {
           "groups=g,resources=secrets,verbs=get",
           "groups=\"\",resources=secrets,verbs=create;update",
           "groups=\"\",resources=serviceaccounts,verbs=create",
           "groups=g,resources=r,verbs=get;list;watch;create;update;patch;delete",
           "urls=/metrics,verbs=get",
       }) {
    EXPECT_EQ(Risk(Of(plain)), std::nullopt) << plain;
  }
}

TEST(CheckMandates, AsksForAReasonAndAComponent) {
  Sources sources;
  Diagnostics read;
  ReadDeclarations("a.cc",
                   "// +kubebuilder:rbac:groups=g,resources=r,verbs=get\n"
                   "// +mandate:component:name=c\n"
                   "// +kubebuilder:rbac:groups=g,resources=r,verbs=bind\n"
                   "// +kubebuilder:rbac:groups=g,resources=r,verbs=get,roleName=x\n"
                   "// +mandate:rbac:justify=why,groups=g,resources=r,verbs=bind\n",
                   Severity::kError, &sources, &read);
  Diagnostics diagnostics;
  CheckMandates(sources, &diagnostics);
  EXPECT_EQ(diagnostics.Report(),
            "a.cc:1: error: this rule belongs to no component; write // "
            "+mandate:component:name=NAME above it in this file\n"
            "a.cc:3: error: verb \"bind\" needs a reason; write it as // "
            "+mandate:rbac:justify=\"why this component must have "
            "it\",groups=g,resources=r,verbs=bind\n"
            "a.cc:4: error: roleName has no meaning in a mandate: its roles are named after the "
            "component; take it out\n");
}

TEST(LintAll, HasTheGivenSeverity) {
  Sources sources;
  Diagnostics diagnostics;
  ReadDeclarations("a.cc", "// +kubebuilder:rbac:resources=r,verbs=get", Severity::kError, &sources,
                   &diagnostics);
  LintAll(sources, Severity::kWarning, &diagnostics);
  EXPECT_EQ(diagnostics.errors(), 0);
  EXPECT_THAT(diagnostics.Report(), HasSubstr("a.cc:1: warning: resources without groups"));
  LintAll(sources, Severity::kError, &diagnostics);
  EXPECT_EQ(diagnostics.errors(), 1);
}

}  // namespace
}  // namespace mandate::rbacgen
