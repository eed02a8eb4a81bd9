// A ScopeTemplate's cluster roles, checked and with everything filled in that it leaves open.
#ifndef CONTROLLERS_SCOPE_ROLE_TEMPLATE_H_
#define CONTROLLERS_SCOPE_ROLE_TEMPLATE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "controllers/scope/kinds.h"
#include "k8s.io/api/rbac/v1/generated.pb.h"
#include "manager/object/kinds/rbac_v1.h"

namespace mandate::scope {

// One cluster role that a template asks for, and who gets it.
struct RoleTemplate {
  std::string generate_name;
  std::string name;  // of the ClusterRole
  std::vector<rbacv1::PolicyRule> rules;
  std::vector<rbacv1::Subject> subjects;  // without doubles, apiGroup filled in
};

// The template's roles in its order. kInvalidArgument lists everything that is wrong, each as
// "spec.clusterRoles[0].subjects[1].namespace: required for a ServiceAccount".
absl::StatusOr<std::vector<RoleTemplate>> ExpandTemplate(
    const operatorsv1alpha1::ScopeTemplate& scope_template);

bool SameRules(const std::vector<rbacv1::PolicyRule>& a,
               const google::protobuf::RepeatedPtrField<rbacv1::PolicyRule>& b);
bool HasSubject(const google::protobuf::RepeatedPtrField<rbacv1::Subject>& subjects,
                const rbacv1::Subject& subject);
bool SameSubjects(const std::vector<rbacv1::Subject>& a,
                  const google::protobuf::RepeatedPtrField<rbacv1::Subject>& b);

}  // namespace mandate::scope

#endif  // CONTROLLERS_SCOPE_ROLE_TEMPLATE_H_
