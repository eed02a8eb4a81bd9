#include "rbacgen/lint/lint.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "manager/rbac/mandate.h"

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

TEST(Lint, AcceptsValidRules) {
  for (const char* good : {
           "groups=apps,resources=deployments;deployments/scale,verbs=get;list;watch",
           "groups=\"\",resources=configmaps,resourceNames=x,verbs=get;update",
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

TEST(Lint, ReportsRulesThatAreRejectedOrIgnored) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"groups=g,resources=r,verbs=", "no verbs"},
      {"urls=/x,verbs=get,namespace=n", "urls in a Role (namespace=n)"},
      {"urls=/x,groups=g,resources=r,verbs=get", "urls together with groups"},
      {"groups=g,verbs=get", "neither resources nor urls"},
      {"resources=r,verbs=get", "resources without groups"},
      {"groups=\"\",resources=pods/*,verbs=get", "\"pods/*\" matches nothing"},
      {"groups=\"\",resources=\"\",verbs=get", "an empty resource"},
      {"groups=\"\",resources=Pods,verbs=get", "resource \"Pods\" has capital letters"},
      {"groups=\"\",resources=pods,verbs=Get", "verb \"Get\" has capital letters"},
      {"groups=\"\",resources=pods,verbs=\"\"", "an empty verb"},
      {"groups=\"\",resources=pods,verbs=get list",
       "verb \"get list\" contains invalid characters and matches nothing"},
      {"groups=\"\",resources=pods,verbs=lïst", "verb \"lïst\" contains invalid characters"},
      {"groups=g,resources=r s,verbs=get", "resource \"r s\" contains invalid characters"},
      {"groups=apps batch,resources=jobs,verbs=get",
       "group \"apps batch\" contains invalid characters"},
      {"groups=\"\",resources=pods,resourceNames=x,verbs=get;create", "create with resourceNames"},
      {"groups=\"\",resources=pods,resourceNames=x,verbs=deletecollection",
       "deletecollection with resourceNames"},
      {"groups=g,resources=r,resourceNames=a/b,verbs=get", "no object can have this name"},
      {"groups=g,resources=r,resourceNames=\"\",verbs=get", "no object can have this name"},
      {"groups=g/v1,resources=r,verbs=get",
       "has a version, which RBAC does not support: write \"g\""},
      {"groups=g,resources=r,verbs=get,namespace=N", "namespace: "},
      {"urls=metrics,verbs=get", "does not begin with /"},
      {"urls=\"/a/*/b\",verbs=get", "only at the end"},
  };
  for (const auto& [arguments, want] : cases) {
    EXPECT_THAT(Lint(Of(arguments)), ElementsAre(HasSubstr(want))) << arguments;
  }
}

TEST(Lint, AcceptsTheManagersNamespace) {
  Declaration own = Of("groups=\"\",resources=secrets,verbs=get");
  own.ns = rbac::kManagerNamespace;
  EXPECT_THAT(Lint(own), testing::IsEmpty());
}

TEST(Doubts, WarnAboutListsWithResourceNames) {
  EXPECT_THAT(Doubts(Of("groups=g,resources=r,resourceNames=x,verbs=get;watch")),
              ElementsAre(HasSubstr("only to requests with the field selector")));
  Declaration selected = Of("groups=g,resources=r,resourceNames=x,verbs=get;watch");
  selected.selects_by_name = true;
  EXPECT_THAT(Doubts(selected), IsEmpty());
  EXPECT_THAT(Doubts(Of("groups=g,resources=r,resourceNames=x,verbs=get")), IsEmpty());
  EXPECT_THAT(Doubts(Of("groups=certificates.k8s.io,resources=signers,resourceNames=a.io/*,"
                        "verbs=approve")),
              IsEmpty());
}

TEST(CheckMandates, AFenceMustCoverAResourceThatItsComponentMayWrite) {
  Sources sources;
  Diagnostics read;
  ReadDeclarations("a.cc",
                   "// +mandate:fence:groups=g,resources=r,label=l\n"
                   "// +mandate:component:name=c\n"
                   "// +kubebuilder:rbac:groups=core,resources=r,verbs=patch\n"
                   "// +kubebuilder:rbac:groups=g,resources=q,verbs=get\n"
                   "// +mandate:fence:groups=core,resources=r,label=l\n"
                   "// +mandate:fence:groups=g,resources=r;q,label=l\n",
                   Severity::kError, &sources, &read);
  EXPECT_EQ(read.Report(), "");
  Diagnostics diagnostics;
  CheckMandates(sources, Severity::kError, &diagnostics);
  EXPECT_EQ(diagnostics.Report(),
            "a.cc:1: error: this fence has no component; write // "
            "+mandate:component:name=NAME above it in this file\n"
            "a.cc:6: error: the fence covers q, but no rule allows c to write it; remove the "
            "resource from the fence, or fix its name\n"
            "a.cc:6: error: the fence covers r, but no rule allows c to write it; remove the "
            "resource from the fence, or fix its name\n");
}

TEST(CheckMandates, ReportsRulesWithoutAReasonOrAComponent) {
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
  CheckMandates(sources, Severity::kError, &diagnostics);
  EXPECT_EQ(diagnostics.Report(),
            "a.cc:1: error: this rule has no component; write // "
            "+mandate:component:name=NAME above it in this file\n"
            "a.cc:3: error: verb \"bind\" needs a reason; write above it: // "
            "+mandate:justify:reason=\"why this component must have it\"\n"
            "a.cc:4: error: roleName is not supported in a mandate: its roles are named after the "
            "component; remove roleName\n");
  Diagnostics warned;
  CheckMandates(sources, Severity::kWarning, &warned);
  EXPECT_NE(warned.Report().find("a.cc:3: warning: verb \"bind\""), std::string::npos);
  EXPECT_EQ(warned.errors(), 2) << warned.Report();
}

TEST(LintAll, ReportsWithTheGivenSeverity) {
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
