// The roles and bindings that a server has from the start, as far as clients depend on them.
#ifndef TESTING_APISERVER_ACCESS_BOOTSTRAP_POLICY_H_
#define TESTING_APISERVER_ACCESS_BOOTSTRAP_POLICY_H_

#include <string>
#include <vector>

namespace mandate::apiserver {

// ClusterRoles and ClusterRoleBindings of kube-apiserver 1.36 (JSON): cluster-admin,
// system:discovery, system:basic-user, system:public-info-viewer,
// system:service-account-issuer-discovery and system:auth-delegator. Not: those of its own
// components, and those that kube-controller-manager aggregates.
std::vector<std::string> BootstrapPolicy();

}  // namespace mandate::apiserver

#endif  // TESTING_APISERVER_ACCESS_BOOTSTRAP_POLICY_H_
