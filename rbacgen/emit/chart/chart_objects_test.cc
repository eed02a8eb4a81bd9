#include "rbacgen/emit/chart/chart_objects.h"

#include <string>
#include <string_view>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rbacgen/emit/roles.h"

namespace mandate::rbacgen {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::Not;

std::vector<ComponentMandate> Components(std::string_view text) {
  Sources sources;
  Diagnostics diagnostics;
  ReadDeclarations("a.cc", text, Severity::kError, &sources, &diagnostics);
  EXPECT_EQ(diagnostics.Report(), "");
  return BuildMandates(sources);
}

ChartOptions Options() {
  ChartOptions options;
  options.names = {.base = "mm", .part_of = "project"};
  options.settings.ns = "sys";
  return options;
}

std::vector<ChartFile> Chart(std::string_view text, const ChartOptions& options = Options()) {
  auto chart = BuildChart(Components(text), options);
  EXPECT_TRUE(chart.ok()) << chart.status();
  return chart.ok() ? *std::move(chart) : std::vector<ChartFile>();
}

// The objects as plain manifests.
std::vector<Yaml> Objects(const std::vector<ChartFile>& files) {
  std::vector<Yaml> objects;
  for (const ChartFile& file : files) {
    for (const Yaml& object : file.objects) {
      const bool for_none = object.for_each() && object.for_each()->plain.empty();
      if (file.condition.plain && object.condition().plain && !for_none) objects.push_back(object);
    }
  }
  return objects;
}

// "Kind namespace/name" of each object.
std::vector<std::string> Names(const std::vector<ChartFile>& files) {
  std::vector<std::string> names;
  for (const Yaml& o : Objects(files)) {
    const Yaml& metadata = o["metadata"];
    names.push_back(o["kind"].text() + " " + metadata["namespace"].text() + "/" +
                    metadata["name"].text());
  }
  return names;
}

// The first object of this kind and name.
Yaml Find(const std::vector<ChartFile>& files, std::string_view kind, std::string_view name) {
  for (const Yaml& o : Objects(files)) {
    if (o["kind"].text() == kind && o["metadata"]["name"].text() == name) return o;
  }
  ADD_FAILURE() << "no " << kind << " " << name;
  return {};
}

constexpr std::string_view kA = "// +mandate:component:name=a\n";
constexpr std::string_view kAandB =
    "// +mandate:component:name=a\n// +mandate:component:name=b\n"
    "// +kubebuilder:rbac:groups=g,resources=r,verbs=get\n"
    "// +mandate:fence:groups=g,resources=r,label=l\n";
constexpr std::string_view kExternal =
    "// +mandate:component:name=a\n"
    "// +mandate:rbac:granted=external,groups=g,resources=x,verbs=get\n"
    "// +mandate:rbac:granted=external,groups=g,resources=x,verbs=get,namespace=n\n";

TEST(BuildChart, EveryComponentHasItsOwnIdentityAndGrants) {
  EXPECT_THAT(Names(Chart("// +mandate:component:name=b\n"
                          "// +mandate:rbac:groups=g,resources=r,verbs=get,namespaces=o;p\n"
                          "// +mandate:rbac:granted=external,groups=g,resources=x,verbs=get\n"
                          "// +mandate:fence:groups=g,resources=r,label=l\n"
                          "// +mandate:component:name=a\n")),
              ElementsAre("ServiceAccount sys/mm", "Role sys/mm", "RoleBinding sys/mm",
                          "ValidatingAdmissionPolicy /mm-tokens",
                          "ValidatingAdmissionPolicyBinding /mm-tokens",   //
                          "ServiceAccount sys/mm-a", "ClusterRole /mm-a",  //
                          "ClusterRoleBinding /mm-a",                      //
                          "ValidatingAdmissionPolicy /mm-a-events",
                          "ValidatingAdmissionPolicyBinding /mm-a-events",
                          "ServiceAccount sys/mm-b", "ClusterRole /mm-b",  //
                          "ClusterRoleBinding /mm-b", "Role o/mm-b",       //
                          "RoleBinding o/mm-b", "Role p/mm-b", "RoleBinding p/mm-b",
                          "ClusterRole /mm-b-external", "ValidatingAdmissionPolicy /mm-b-r",
                          "ValidatingAdmissionPolicyBinding /mm-b-r",
                          "ValidatingAdmissionPolicy /mm-b-events",
                          "ValidatingAdmissionPolicyBinding /mm-b-events"));
}

TEST(BuildChart, ARuleMayBeForTheManagersNamespace) {
  ChartOptions options = Options();
  options.settings.identity_mode = "impersonate";
  EXPECT_THAT(
      Names(Chart("// +mandate:component:name=a,events=none\n"
                  "// +mandate:rbac:groups=\"\",resources=secrets,resourceNames=x,verbs=update,"
                  "namespace=$(NAMESPACE)\n",
                  options)),
      IsSupersetOf({"Role sys/mm-a", "RoleBinding sys/mm-a", "Role sys/mm-a-impersonate-on",
                    "RoleBinding sys/mm-a-impersonate-on"}));
}

TEST(BuildChart, OnlyBasesTokenIsMountedInPods) {
  const auto chart = Chart(kA);
  EXPECT_EQ(Find(chart, "ServiceAccount", "mm-a")["automountServiceAccountToken"].Write(),
            "false\n");
  EXPECT_TRUE(Find(chart, "ServiceAccount", "mm")["automountServiceAccountToken"].IsNull());
}

TEST(BuildChart, InModeImpersonateBaseMayImpersonateEachComponent) {
  const auto impersonation = [](const ChartOptions& options) {
    std::vector<std::string> names;
    for (const std::string& name : Names(Chart(kA, options))) {
      if (name.find("impersonat") != name.npos) names.push_back(name);
    }
    return names;
  };
  ChartOptions options = Options();
  EXPECT_THAT(impersonation(options), IsEmpty());
  options.settings.identity_mode = "impersonate";
  EXPECT_THAT(impersonation(options), ElementsAre("Role sys/mm-a-impersonate-constrained",
                                                  "RoleBinding sys/mm-a-impersonate-constrained",
                                                  "ClusterRole /mm-a-impersonate-on",
                                                  "ClusterRoleBinding /mm-a-impersonate-on"));
}

TEST(ChartNames, AChartIsPartOfItsManagersSystem) {
  EXPECT_EQ((ChartNames{.base = "mandate-manager"}.PartOf()), "mandate");
  EXPECT_EQ((ChartNames{.base = "backup-operator"}.PartOf()), "backup-operator");
  EXPECT_EQ((ChartNames{.base = "mm", .part_of = "project"}.PartOf()), "project");
}

TEST(BuildChart, ABindingHasExactlyOneSubject) {
  EXPECT_EQ(Find(Chart(kA), "ClusterRoleBinding", "mm-a").Write(),
            "apiVersion: rbac.authorization.k8s.io/v1\n"
            "kind: ClusterRoleBinding\n"
            "metadata:\n"
            "  labels:\n"
            "    app.kubernetes.io/component: a\n"
            "    app.kubernetes.io/managed-by: rbacgen\n"
            "    app.kubernetes.io/name: mm\n"
            "    app.kubernetes.io/part-of: project\n"
            "  name: mm-a\n"
            "roleRef:\n"
            "  apiGroup: rbac.authorization.k8s.io\n"
            "  kind: ClusterRole\n"
            "  name: mm-a\n"
            "subjects:\n"
            "- kind: ServiceAccount\n"
            "  name: mm-a\n"
            "  namespace: sys\n");
}

TEST(BuildChart, BaseMayMintTokensOfComponentsAndUpdateItsLease) {
  const auto chart = Chart(kAandB);
  const std::string rules = Find(chart, "Role", "mm")["rules"].Write();
  EXPECT_EQ(rules,
            "- apiGroups:\n  - \"\"\n"
            "  resourceNames:\n  - mm-a\n  - mm-b\n"
            "  resources:\n  - serviceaccounts/token\n  verbs:\n  - create\n"
            "- apiGroups:\n  - coordination.k8s.io\n"
            "  resourceNames:\n  - mm\n"
            "  resources:\n  - leases\n  verbs:\n  - create\n  - get\n  - patch\n  - update\n");
  // The header has the same grants for base.
  EXPECT_EQ(rules,
            RulesYaml(BuildBaseMandate(Components(kAandB), "mm", "").grants.at(0).rules).Write());
}

TEST(BuildChart, HasOnlyEnabledComponents) {
  ChartOptions options = Options();
  options.settings.controllers = {"*", "-b"};
  options.settings.flow_schemas = true;
  options.settings.audit_policy = true;
  const auto chart = Chart(kAandB, options);
  std::string all;
  for (const Yaml& object : Objects(chart)) {
    // mm-tokens lists all components, also disabled ones, to distinguish their names from base's
    // with a suffix.
    if (object["metadata"]["name"].text() != "mm-tokens") all += object.Write();
  }
  EXPECT_THAT(all, HasSubstr("mm-a"));
  EXPECT_THAT(all, Not(HasSubstr("mm-b")));
}

TEST(BuildChart, ControllersHaveTheSyntaxOfTheManagersFlag) {
  ChartOptions options = Options();
  options.settings.controllers = {"-a", "c"};
  EXPECT_EQ(BuildChart(Components(kA), options).status().message(),
            "--controllers: \"c\" is not one of a");
  options.settings.controllers = {"-a"};
  EXPECT_EQ(BuildChart(Components(kA), options).status().message(),
            "--controllers: no component is enabled");
  options.settings.controllers = {"*", "-a", "a"};
  EXPECT_TRUE(BuildChart(Components(kA), options).ok());
}

// As of an operator with webhooks alone.
TEST(BuildChart, NeedsAComponentThatIsEnabledByDefault) {
  const auto components =
      Components("// +mandate:component:name=hook,value=webhooks.enabled,events=none\n");
  EXPECT_EQ(BuildChart(components, Options()).status().message(),
            "each component has value= in its marker, so the chart would install none by default; "
            "add a component without value=, such as one with a controller");
}

TEST(BuildChart, AKillSwitchNeedsTokens) {
  ChartOptions options = Options();
  options.settings.kill_switch = true;
  EXPECT_TRUE(BuildChart(Components(kA), options).ok());
  options.settings.identity_mode = "impersonate";
  EXPECT_EQ(BuildChart(Components(kA), options).status().message(),
            "--kill-switch: no tokens to bind with --identity-mode=impersonate; use "
            "--identity-mode=token");
}

TEST(BuildChart, AComponentWithoutAControllerIsEnabledByItsValue) {
  const std::string text =
      std::string(kA) + "// +mandate:component:name=side,value=metrics.secure\n";
  EXPECT_THAT(Names(Chart(text)), Contains("ServiceAccount sys/mm-side"));
  ChartOptions options = Options();
  options.settings.with = {};
  EXPECT_THAT(Names(Chart(text, options)), Not(Contains("ServiceAccount sys/mm-side")));
  options.settings.with = {"metrics.secure"};
  const auto chart = Chart(text, options);
  EXPECT_THAT(Names(chart), Contains("ServiceAccount sys/mm-side"));
  EXPECT_THAT(chart.back().condition.helm,
              HasSubstr("dig \"metrics\" \"secure\" false $.Values.AsMap"));
  EXPECT_THAT(HelmHelpers("mm", Components(text)), HasSubstr("is not one of a\""));
  options.settings.controllers = {"side"};
  EXPECT_EQ(BuildChart(Components(text), options).status().message(),
            "--controllers: \"side\" is not one of a");
  options.settings.controllers = {"*"};
  options.settings.with = {"x"};
  EXPECT_EQ(BuildChart(Components(text), options).status().message(),
            "--with: no component has value=x in its marker");
}

TEST(BuildChart, AValueMayDisableAComponentAgain) {
  const std::string text =
      std::string(kA) + "// +mandate:component:name=side,value=w.enabled,unless=w.secret\n";
  EXPECT_THAT(Names(Chart(text)), Contains("ServiceAccount sys/mm-side"));
  ChartOptions options = Options();
  options.settings.with = {"w.enabled"};
  EXPECT_THAT(Names(Chart(text, options)), Contains("ServiceAccount sys/mm-side"));
  options.settings.with = {"w.enabled", "w.secret"};
  const auto chart = Chart(text, options);
  EXPECT_THAT(Names(chart), Not(Contains("ServiceAccount sys/mm-side")));
  EXPECT_THAT(chart.back().condition.helm,
              HasSubstr("and (dig \"w\" \"enabled\" false $.Values.AsMap) (not (dig \"w\" "
                        "\"secret\" false $.Values.AsMap))"));
}

TEST(BuildChart, AComponentThatIsCutOffHasNoObjects) {
  ChartOptions options = Options();
  options.settings.kill_switch = true;
  options.settings.cut_off = {"a"};
  const auto chart = Chart(kAandB, options);
  for (const std::string& name : Names(chart)) {
    EXPECT_THAT(name, Not(EndsWith("/mm-a")));
  }
  EXPECT_THAT(Names(chart), Contains("ServiceAccount sys/mm-b"));
  // Without resourceNames the rule would mint any token.
  EXPECT_THAT(Find(chart, "Role", "mm")["rules"].Write(), HasSubstr("resourceNames:\n  - mm-b\n"));
  options.settings.cut_off = {"a", "b"};
  EXPECT_EQ(BuildChart(Components(kAandB), options).status().message(),
            "--cut-off: every enabled component is cut off");
  options.settings.cut_off = {"c"};
  EXPECT_EQ(BuildChart(Components(kAandB), options).status().message(),
            "--cut-off: \"c\" is not one of a, b");
}

TEST(BuildChart, GuardsExistWhileTheirComponentIsDisabled) {
  const std::string text = std::string(kAandB) +
                           "// +mandate:component:name=c\n"
                           "// +mandate:justify:reason=\"x\"\n"
                           "// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=update\n"
                           "// +mandate:fence:groups=apps,resources=deployments,verbs=update,"
                           "label=l,guard=a.io/as\n";
  const std::string guard = "ValidatingAdmissionPolicy /mm-c-deployments-guard";
  const std::string fence = "ValidatingAdmissionPolicy /mm-c-deployments";
  EXPECT_THAT(Names(Chart(text)), IsSupersetOf({guard, fence}));
  ChartOptions cut_off = Options(), disabled = Options(), single = Options();
  cut_off.settings.cut_off = {"c"};
  disabled.settings.controllers = {"*", "-c"};
  for (const ChartOptions& options : {cut_off, disabled}) {
    EXPECT_THAT(Names(Chart(text, options)), Contains(guard));
    EXPECT_THAT(Names(Chart(text, options)), Not(Contains(fence)));
  }
  single.settings.identity_mode = "single";
  EXPECT_THAT(Names(Chart(text, single)), Not(Contains(guard)));
}

TEST(BuildChart, BasesFenceDoesNotApplyToComponents) {
  EXPECT_THAT(Find(Chart(kAandB), "ValidatingAdmissionPolicy", "mm-tokens")["spec"].Write(),
              AllOf(HasSubstr("(mm)(-.+)?$"), HasSubstr("(mm-a|mm-b)(-.+)?$")));
}

TEST(BuildChart, SwitchesAddTheirObjects) {
  ChartOptions options = Options();
  options.settings.create_service_accounts = true;
  options.settings.kill_switch = true;
  options.settings.flow_schemas = true;
  options.settings.audit_policy = true;
  const auto chart = Chart(kA, options);
  EXPECT_THAT(Names(chart), IsSupersetOf({"Role sys/mm-create-service-accounts",
                                          "RoleBinding sys/mm-create-service-accounts",
                                          "Secret sys/mm-a", "PriorityLevelConfiguration /mm",
                                          "FlowSchema /mm", "ConfigMap sys/mm-audit-policy"}));
  EXPECT_EQ(Find(chart, "Role", "mm-create-service-accounts")["rules"].Write(),
            "- apiGroups:\n  - \"\"\n  resources:\n  - serviceaccounts\n  verbs:\n  - create\n");
}

TEST(BuildChart, TheFlowSchemaAppliesToEveryIdentity) {
  ChartOptions options = Options();
  options.settings.flow_schemas = true;
  const auto chart = Chart(kAandB, options);
  EXPECT_EQ(
      Find(chart, "FlowSchema", "mm")["spec"]["rules"].Write(),
      "- nonResourceRules:\n"
      "  - nonResourceURLs:\n    - '*'\n    verbs:\n    - '*'\n"
      "  resourceRules:\n"
      "  - apiGroups:\n    - '*'\n    clusterScope: true\n    namespaces:\n    - '*'\n"
      "    resources:\n    - '*'\n    verbs:\n    - '*'\n"
      "  subjects:\n"
      "  - kind: ServiceAccount\n    serviceAccount:\n      name: mm\n      namespace: sys\n"
      "  - kind: ServiceAccount\n    serviceAccount:\n      name: mm-a\n      namespace: sys\n"
      "  - kind: ServiceAccount\n    serviceAccount:\n      name: mm-b\n      namespace: sys\n");
}

TEST(BuildChart, InModeSingleBaseHasTheRightsOfAllComponents) {
  ChartOptions options = Options();
  options.settings.identity_mode = "single";
  const auto chart = Chart(kAandB, options);
  for (const char* name : {"mm-a", "mm-b"}) {
    EXPECT_THAT(Find(chart, "ClusterRoleBinding", name)["subjects"].Write(),
                HasSubstr("name: mm\n"));
  }
  EXPECT_THAT(Find(chart, "Role", "mm")["rules"].Write(), Not(HasSubstr("token")));
  EXPECT_THAT(Names(chart), Not(Contains(HasSubstr("ValidatingAdmissionPolicy"))));
}

TEST(BuildChart, ExternalGrantsMayBeAScopeTemplate) {
  ChartOptions options = Options();
  EXPECT_THAT(Names(Chart(kExternal)),
              IsSupersetOf({"ClusterRole /mm-a-external", "Role n/mm-a-external"}));
  options.settings.external = "scopetemplate";
  const auto chart = Chart(kExternal, options);
  EXPECT_THAT(Names(chart), Not(Contains("ClusterRole /mm-a-external")));
  EXPECT_THAT(Names(chart), Contains("ScopeTemplate /mm-a-external-n"));
  EXPECT_EQ(Find(chart, "ScopeTemplate", "mm-a-external")["spec"].Write(),
            "clusterRoles:\n"
            "- generateName: a-external-\n"
            "  rules:\n"
            "  - apiGroups:\n    - g\n    resources:\n    - x\n    verbs:\n    - get\n"
            "  subjects:\n"
            "  - kind: ServiceAccount\n    name: mm-a\n    namespace: sys\n");
}

TEST(BuildChart, ReasonsBecomeAnAnnotation) {
  const auto chart = Chart(
      "// +mandate:component:name=a\n"
      "// +mandate:rbac:justify=\"It {{ must }}.\",groups=g,resources=r,verbs=bind\n");
  EXPECT_THAT(Find(chart, "ClusterRole", "mm-a").Write(Yaml::Flavor::kHelm),
              HasSubstr("  annotations:\n"
                        "    mandate.io/justification: 'bind of r: It {{\"{{\"}} must }}.'\n"));
}

TEST(BuildChart, TwoObjectsOfOneNameAreAnError) {
  const auto roles = BuildChart(
      Components(std::string(kExternal) + "// +mandate:component:name=a-external\n"), Options());
  EXPECT_EQ(roles.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(roles.status().message(),
              HasSubstr("two objects with the name ClusterRole mm-a-external; rename"));
  const auto fences = BuildChart(Components("// +mandate:component:name=a\n"
                                            "// +mandate:fence:groups=g,resources=r,label=l\n"
                                            "// +mandate:fence:groups=h,resources=r,label=l\n"),
                                 Options());
  EXPECT_THAT(fences.status().message(), HasSubstr("ValidatingAdmissionPolicy mm-a-r"));
}

}  // namespace
}  // namespace mandate::rbacgen
