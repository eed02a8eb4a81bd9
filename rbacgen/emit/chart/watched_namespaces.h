// The bindings of components that read only some namespaces.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "manager/rbac/rule.h"
#include "rbacgen/emit/chart/object_maker.h"

namespace mandate::rbacgen {

// What Roles cannot grant: the rules' URLs and cluster-scoped resources, normalised. Those of
// Kubernetes are known; `cluster_scoped` has others, as "widgets.example.com". A resource that is
// in neither counts as namespaced, because a missing permission is noticed, and one too many is
// not; so does "*".
std::vector<rbac::Rule> ClusterScopedRules(const std::vector<rbac::Rule>& rules,
                                           const std::set<std::string>& cluster_scoped);

// Adds the bindings of the component's ClusterRole, which has `rules`. A manager that watches all
// namespaces has a ClusterRoleBinding. Otherwise each of the namespaces has a RoleBinding, and a
// second ClusterRole has the ClusterScopedRules(), if there are any, with a ClusterRoleBinding.
void AddClusterGrant(ObjectMaker& maker, const std::vector<rbac::Rule>& rules,
                     const std::set<std::string>& cluster_scoped);

}  // namespace mandate::rbacgen
