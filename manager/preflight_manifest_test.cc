#include "manager/preflight_manifest.h"

#include <gtest/gtest.h>

namespace mandate {
namespace {

TEST(GrantManifestTest, ACertificatesUserIsASubjectByItsName) {
  EXPECT_EQ(
      GrantManifest({.ns = "",
                     .role = "r",
                     .binding = "b",
                     .user = "some \"one\": else",
                     .rules = {{.verbs = {"get"}, .api_groups = {""}, .resources = {"pods"}}}}),
      R"(apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: r
rules:
- apiGroups: [""]
  resources: ["pods"]
  verbs: ["get"]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: b
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: r
subjects:
- apiGroup: rbac.authorization.k8s.io
  kind: User
  name: "some \"one\": else"
)");
}

TEST(GrantManifestTest, AServiceAccountMayBeOfAnotherNamespaceThanTheRole) {
  const std::string yaml = GrantManifest({.ns = "here",
                                          .role = "r",
                                          .binding = "b",
                                          .user = "system:serviceaccount:there:x",
                                          .rules = {}});
  EXPECT_NE(yaml.find("kind: Role\nmetadata:\n  name: r\n  namespace: here\n"), std::string::npos);
  EXPECT_NE(yaml.find("kind: RoleBinding\nmetadata:\n  name: b\n  namespace: here\n"),
            std::string::npos);
  EXPECT_NE(yaml.find("- kind: ServiceAccount\n  name: x\n  namespace: there\n"),
            std::string::npos);
}

}  // namespace
}  // namespace mandate
