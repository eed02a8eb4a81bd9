#include "manager/identity/manifests.h"

#include "manager/core/strings.h"

namespace mandate {

std::string ServiceAccountManifest(std::string_view ns, std::string_view name) {
  return StrCat("apiVersion: v1\nkind: ServiceAccount\nmetadata:\n  name: ", name,
                "\n  namespace: ", ns, "\nautomountServiceAccountToken: false\n");
}

std::string SecretManifest(std::string_view ns, std::string_view name) {
  return StrCat("apiVersion: v1\nkind: Secret\nmetadata:\n  name: ", name, "\n  namespace: ", ns,
                "\ntype: Opaque\n");
}

std::string MintingManifest(std::string_view ns, std::string_view minter, std::string_view name) {
  const std::string role = StrCat(minter, "-mint-", name);
  return StrCat(
      "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata:\n  name: ", role,
      "\n  namespace: ", ns,
      "\nrules:\n- apiGroups: [\"\"]\n  resources: [\"serviceaccounts/token\"]\n  resourceNames: "
      "[\"",
      name, "\"]\n  verbs: [\"create\"]\n",
      "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata:\n  name: ", role,
      "\n  namespace: ", ns,
      "\nroleRef:\n  apiGroup: rbac.authorization.k8s.io\n  kind: Role\n  name: ", role,
      "\nsubjects:\n- kind: ServiceAccount\n  name: ", minter, "\n  namespace: ", ns, "\n");
}

}  // namespace mandate
