#include "rbacgen/emit/chart/watched_namespaces.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "manager/core/strings.h"
#include "manager/rbac/cluster_scoped.h"
#include "manager/rbac/normalize.h"
#include "rbacgen/emit/roles.h"

namespace mandate::rbacgen {

std::vector<rbac::Rule> ClusterScopedRules(const std::vector<rbac::Rule>& rules,
                                           const std::set<std::string>& cluster_scoped) {
  const auto is_cluster_scoped = [&](std::string_view group, const std::string& resource) {
    const std::string parent = resource.substr(0, resource.find('/'));
    return rbac::IsClusterScoped(group, resource) ||
           cluster_scoped.contains(StrCat(parent, ".", group));
  };
  std::vector<rbac::Rule> found;
  for (const rbac::Rule& rule : rules) {
    if (!rule.non_resource_urls.empty()) found.push_back(rule);
    for (const std::string& group : rule.api_groups) {
      rbac::Rule part = rule;
      part.api_groups = {group};
      part.non_resource_urls.clear();
      std::erase_if(part.resources, [&](const std::string& resource) {
        return !is_cluster_scoped(group, resource);
      });
      if (!part.resources.empty()) found.push_back(std::move(part));
    }
  }
  return rbac::NormalizeRules(std::move(found));
}

void AddClusterGrant(ObjectMaker& maker, const std::vector<rbac::Rule>& rules,
                     const std::set<std::string>& cluster_scoped) {
  const Yaml::Condition some = maker.switches().WatchesSomeNamespaces();
  maker.Binding(maker.account(), Yaml(), maker.Requesters(), !some);
  maker.BindingInWatchedNamespaces(maker.account(), maker.Requesters());
  const std::vector<rbac::Rule> part = ClusterScopedRules(rules, cluster_scoped);
  if (part.empty()) return;
  const std::string name = maker.account() + "-cluster-scoped";
  maker.Role(name, Yaml(), RulesYaml(part), {}, some);
  maker.Binding(name, Yaml(), maker.Requesters(), some);
}

}  // namespace mandate::rbacgen
