// The roles and bindings of a new server that clients depend on.
#pragma once

#include <string>
#include <vector>

namespace mandate::apiserver {

// ClusterRoles and ClusterRoleBindings of kube-apiserver 1.36 (JSON): cluster-admin,
// system:discovery, system:basic-user, system:public-info-viewer,
// system:service-account-issuer-discovery and system:auth-delegator. The roles of Kubernetes' own
// components and the aggregated ones are omitted.
std::vector<std::string> BootstrapPolicy();

}  // namespace mandate::apiserver
