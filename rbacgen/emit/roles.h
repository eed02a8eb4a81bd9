// Declarations grouped into the roles that hold them.
#pragma once

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

// Names the role of each declaration without a role name after its component: PREFIX-component, or
// the component alone if `prefix` is empty.
void NameRolesByComponent(const std::string& prefix, std::vector<Declaration>* declarations);

// As controller-gen: one role for each (namespace, role name), in that order.
std::vector<RoleContent> GroupByRole(const std::vector<Declaration>& declarations,
                                     const std::string& default_role_name);

// The roles as documents of YAML, each with "---" before it.
std::string RoleDocuments(const std::vector<RoleContent>& roles);

// A rule, or the rules, of a role object.
Yaml RuleYaml(const rbac::Rule& rule);
Yaml RulesYaml(const std::vector<rbac::Rule>& rules);

}  // namespace mandate::rbacgen
