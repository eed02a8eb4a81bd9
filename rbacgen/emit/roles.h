// Declarations grouped into the roles that hold them.
#ifndef RBACGEN_EMIT_ROLES_H_
#define RBACGEN_EMIT_ROLES_H_

#include <string>
#include <vector>

#include "manager/rbac/rule.h"
#include "rbacgen/markers/declarations.h"
#include "rbacgen/yaml/yaml.h"

namespace mandate::rbacgen {

// A ClusterRole if `ns` is empty, else a Role in it. Its rules are normalised.
struct RoleContent {
  std::string ns;
  std::string name;
  std::vector<rbac::Rule> rules;
};

// As controller-gen: one role for each (namespace, role name), in that order.
std::vector<RoleContent> GroupByRole(const std::vector<Declaration>& declarations,
                                     const std::string& default_role_name);

// The rules of a role object.
Yaml RulesYaml(const std::vector<rbac::Rule>& rules);

}  // namespace mandate::rbacgen

#endif  // RBACGEN_EMIT_ROLES_H_
