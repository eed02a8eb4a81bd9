// Groups declarations into the roles that contain them.
#ifndef RBACGEN_EMIT_ROLES_H_
#define RBACGEN_EMIT_ROLES_H_

#include <string>
#include <vector>

#include "manager/rbac/rule.h"
#include "rbacgen/markers/declarations.h"
#include "rbacgen/yaml/yaml.h"

namespace mandate::rbacgen {

// A ClusterRole if `ns` is empty, else a Role in that namespace. The rules are normalised.
struct RoleContent {
  std::string ns;
  std::string name;
  std::vector<rbac::Rule> rules;
};

// Gives each declaration without a role name the name of its component: PREFIX-component, or only
// the component if `prefix` is empty.
void NameRolesByComponent(const std::string& prefix, std::vector<Declaration>* declarations);

// Makes one role for each (namespace, role name), in that order, as controller-gen does.
std::vector<RoleContent> GroupByRole(const std::vector<Declaration>& declarations,
                                     const std::string& default_role_name);

// The roles as YAML documents, each after a "---" line.
std::string RoleDocuments(const std::vector<RoleContent>& roles);

// The rules as a role object has them.
Yaml RulesYaml(const std::vector<rbac::Rule>& rules);

}  // namespace mandate::rbacgen

#endif  // RBACGEN_EMIT_ROLES_H_
