#include "rbacgen/emit/chart/audit_policy.h"

#include "gtest/gtest.h"

namespace mandate::rbacgen {
namespace {

TEST(AuditPolicy, LogsEnabledIdentitiesAndTheirTokens) {
  ChartSettings settings;
  settings.ns = "sys";
  settings.controllers = {"*", "-c"};
  const std::vector<ComponentMandate> components = {
      {.name = "a", .grants = {}}, {.name = "b", .grants = {}}, {.name = "c", .grants = {}}};
  EXPECT_EQ(AuditPolicy(components, "mm", ChartSwitches(settings)).Write(),
            "apiVersion: audit.k8s.io/v1\n"
            "kind: Policy\n"
            "omitStages:\n"
            "- RequestReceived\n"
            "rules:\n"
            "- level: Request\n"
            "  namespaces:\n"
            "  - sys\n"
            "  resources:\n"
            "  - group: \"\"\n"
            "    resourceNames:\n"
            "    - mm-a\n"
            "    - mm-b\n"
            "    resources:\n"
            "    - serviceaccounts/token\n"
            "- level: Metadata\n"
            "  users:\n"
            "  - system:serviceaccount:sys:mm\n"
            "  - system:serviceaccount:sys:mm-a\n"
            "  - system:serviceaccount:sys:mm-b\n");
}

TEST(AuditPolicy, LogsBodiesOfBindingsOfComponents) {
  constexpr char kRbac[] = "rbac.authorization.k8s.io";
  const auto with = [](const char* name, rbac::Rule rule, bool external = false) {
    return ComponentMandate{
        .name = name,
        .grants = {
            {.ns = "", .external = external, .rules = {std::move(rule)}, .justifications = {}}}};
  };
  const ComponentMandate binder = with("a", {{"create"}, {kRbac}, {"rolebindings"}, {}, {}}),
                         reader = with("b", {{"get"}, {kRbac}, {"rolebindings"}, {}, {}}),
                         later = with("c", {{"*"}, {"*"}, {"*"}, {}, {}}, /*external=*/true);
  ChartSettings settings;
  settings.ns = "sys";
  const auto policy = [&](const std::vector<ComponentMandate>& components, bool bodies) {
    return AuditPolicy(components, "mm", ChartSwitches(settings), bodies).Write();
  };
  const std::string text = policy({binder, reader, later}, true);
  EXPECT_NE(text.find("    - serviceaccounts/token\n"
                      "- level: Request\n"
                      "  resources:\n"
                      "  - group: rbac.authorization.k8s.io\n"
                      "    resources:\n"
                      "    - rolebindings\n"
                      "    - clusterrolebindings\n"
                      "  users:\n"
                      "  - system:serviceaccount:sys:mm-a\n"
                      "  verbs:\n"
                      "  - create\n"
                      "  - patch\n"
                      "  - update\n"
                      "- level: RequestResponse\n"
                      "  omitManagedFields: true\n"
                      "  resources:\n"
                      "  - group: operators.coreos.com\n"
                      "    resources:\n"
                      "    - scopeinstances\n"
                      "  verbs:\n"
                      "  - create\n"
                      "  - list\n"
                      "  - patch\n"
                      "  - update\n"
                      "- level: Metadata\n"),
            text.npos)
      << text;
  settings.controllers = {"*", "-a"};
  EXPECT_EQ(policy({binder, reader}, true), policy({binder, reader}, false));
  settings.controllers = {"*"};
  EXPECT_EQ(policy({reader, later}, true), policy({reader, later}, false));
  EXPECT_EQ(policy({binder}, false).find("scopeinstances"), std::string::npos);
}

}  // namespace
}  // namespace mandate::rbacgen
