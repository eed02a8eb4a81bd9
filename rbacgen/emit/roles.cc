#include "rbacgen/emit/roles.h"

#include <map>
#include <utility>

#include "manager/rbac/normalize.h"

namespace mandate::rbacgen {

std::vector<RoleContent> GroupByRole(const std::vector<Declaration>& declarations,
                                     const std::string& default_role_name) {
  std::map<std::pair<std::string, std::string>, std::vector<rbac::Rule>> groups;
  for (const Declaration& d : declarations) {
    groups[{d.ns, d.role_name.empty() ? default_role_name : d.role_name}].push_back(d.rule);
  }
  std::vector<RoleContent> roles;
  for (auto& [key, rules] : groups) {
    roles.push_back({key.first, key.second, rbac::NormalizeRules(std::move(rules))});
  }
  return roles;
}

Yaml RuleYaml(const rbac::Rule& rule) {
  Yaml::Map map;
  const auto add = [&](const char* key, const std::vector<std::string>& strings) {
    if (!strings.empty()) map[key] = Yaml(strings);
  };
  add("apiGroups", rule.api_groups);
  add("nonResourceURLs", rule.non_resource_urls);
  add("resourceNames", rule.resource_names);
  add("resources", rule.resources);
  // The one field without omitempty.
  map["verbs"] = rule.verbs.empty() ? Yaml() : Yaml(rule.verbs);
  return map;
}

Yaml RulesYaml(const std::vector<rbac::Rule>& rules) {
  Yaml::List list;
  for (const rbac::Rule& rule : rules) list.push_back(RuleYaml(rule));
  return list;
}

std::string RoleDocuments(const std::vector<RoleContent>& roles) {
  std::string text;
  for (const RoleContent& role : roles) {
    Yaml::Map metadata = {{"name", role.name}};
    if (!role.ns.empty()) metadata["namespace"] = role.ns;
    text += "---\n" + Yaml(Yaml::Map{{"apiVersion", "rbac.authorization.k8s.io/v1"},
                                     {"kind", role.ns.empty() ? "ClusterRole" : "Role"},
                                     {"metadata", std::move(metadata)},
                                     {"rules", RulesYaml(role.rules)}})
                          .Write();
  }
  return text;
}

void NameRolesByComponent(const std::string& prefix, std::vector<Declaration>* declarations) {
  for (Declaration& d : *declarations) {
    if (d.role_name.empty())
      d.role_name = prefix.empty() ? d.component : prefix + "-" + d.component;
  }
}

}  // namespace mandate::rbacgen
