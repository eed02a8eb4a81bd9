#include "rbacgen/audit_policy.h"

#include "gtest/gtest.h"

namespace mandate::rbacgen {
namespace {

TEST(AuditPolicy, IsAboutTheIdentitiesThatAreEnabledAndTheirTokens) {
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

}  // namespace
}  // namespace mandate::rbacgen
