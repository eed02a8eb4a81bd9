#include "manager/testing_base.h"

#include "manager/core/strings.h"
#include "manager/rbac/user.h"

namespace mandate {

void AddBase(const std::vector<std::string>& components, apiserver::ServerOptions& serve) {
  apiserver::User& base = serve.access.authentication.fixed_tokens[kBaseToken];
  static_cast<rbac::UserInfo&>(base) = rbac::ServiceAccountInfo("default", "mandate-manager");
  std::string accounts;
  for (const std::string& component : components) {
    StrAppend(&accounts, accounts.empty() ? "" : ",", "\"mandate-manager-", component, "\"");
  }
  serve.objects.push_back(StrCat(R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"Role",
                 "metadata":{"name":"mandate-manager","namespace":"default"},
                 "rules":[{"apiGroups":[""],"resources":["serviceaccounts/token"],
                           "verbs":["create"],"resourceNames":[)",
                                 accounts, R"(]},
                          {"apiGroups":["coordination.k8s.io"],"resources":["leases"],
                           "verbs":["get","update"],"resourceNames":["mandate-manager"]}]})"));
  serve.objects.push_back(
      R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"RoleBinding",
          "metadata":{"name":"mandate-manager","namespace":"default"},
          "roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"mandate-manager"},
          "subjects":[{"kind":"ServiceAccount","name":"mandate-manager","namespace":"default"}]})");
}

}  // namespace mandate
