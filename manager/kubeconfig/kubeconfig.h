// Finds the manager's cluster: from a kubeconfig file, or from the pod.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "manager/kubeconfig/cluster_config.h"
#include "manager/kubeconfig/file_token_source.h"

namespace mandate {

// A variable of the process's environment; nullopt: not set.
using EnvironmentVariables = std::function<std::optional<std::string>(const std::string& name)>;
EnvironmentVariables ProcessEnvironment();

// The files to read: `flag`, or else $KUBECONFIG (a list with colons). Empty: neither is set, so
// use InClusterConfig(). ~/.kube/config is never read: it belongs to a person, often an
// administrator, and the manager must not use it by accident.
std::vector<std::string> KubeconfigPaths(std::string_view flag,
                                         const EnvironmentVariables& environment);

struct KubeconfigOptions {
  std::string context = {};  // empty: current-context
  FileReader reader = LocalFileReader();
  EnvironmentVariables environment = ProcessEnvironment();
};

// Reads kubeconfigs: the context's cluster, user and namespace. Several files are merged; the first
// that sets a value wins, and a file that does not exist is skipped if there are others. Paths in a
// file are relative to its folder. tokenFile beats token, as in client-go. A certificate-authority
// file is read again when it changes. A cluster without proxy-url is reached according to
// HTTPS_PROXY and NO_PROXY (manager/transport/proxy.h).
//
// Rejected because it would weaken the connection or the identity: insecure-skip-tls-verify, http,
// no certificate authority, a token next to a client certificate (the server would use the
// certificate), user name and password. Rejected because it is not supported: auth-provider,
// impersonation by the user entry, an exec plugin that must ask a person. Errors are
// kInvalidArgument, kUnimplemented or the reader's. They name the file and the entry, and never a
// secret.
absl::StatusOr<ClusterConfig> LoadKubeconfig(const std::vector<std::string>& paths,
                                             const KubeconfigOptions& options = {});

struct InClusterOptions {
  std::string root = "/var/run/secrets/kubernetes.io/serviceaccount";
  EnvironmentVariables environment = ProcessEnvironment();
  FileReader reader = LocalFileReader();
};

// The configuration of the pod: the address from KUBERNETES_SERVICE_HOST and _PORT; CA, token file
// and namespace from the projected volume; the proxy from HTTPS_PROXY and NO_PROXY.
// kFailedPrecondition names what is missing outside a pod.
absl::StatusOr<ClusterConfig> InClusterConfig(const InClusterOptions& options = {});

}  // namespace mandate
