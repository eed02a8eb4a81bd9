// The resources of Kubernetes itself that have no namespace.
#pragma once

#include <string_view>

#include "manager/rbac/rule.h"

namespace mandate::rbac {

// Whether it is a cluster-scoped resource of Kubernetes 1.36 ("nodes", also "nodes/status"), which
// no Role grants. False for every other resource, such as one of a CRD, whose scope is unknown
// here.
bool IsClusterScoped(std::string_view group, std::string_view resource);

// The rule without its cluster-scoped resources and URLs: what Roles can grant. It has no resources
// if nothing is left.
Rule NamespacedPart(const Rule& rule);
// The rule with these alone.
Rule ClusterPart(const Rule& rule);

}  // namespace mandate::rbac
