// Where the manager finds its cluster: a kubeconfig file, or the pod it runs in.
#ifndef MANAGER_KUBECONFIG_KUBECONFIG_H_
#define MANAGER_KUBECONFIG_KUBECONFIG_H_

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
using Environment = std::function<std::optional<std::string>(const std::string& name)>;
Environment ProcessEnvironment();

// The files to read: `flag`, else $KUBECONFIG (a list, separated by colons). Empty: none is said,
// so try InClusterConfig(). Never ~/.kube/config: that is a person's, often an administrator's, and
// the manager must not act as one by accident.
std::vector<std::string> KubeconfigPaths(std::string_view flag, const Environment& environment);

struct KubeconfigOptions {
  std::string context = {};            // empty: current-context
  std::string cluster_name = "local";  // ClusterConfig::name
  FileReader reader = LocalFileReader();
  Environment environment = ProcessEnvironment();
};

// Reads kubeconfigs: the context's cluster, user and namespace. What several files say is merged,
// the first that says something wins; of several, those that do not exist are skipped. Paths in a
// file are relative to its folder. tokenFile beats token, as in client-go. A certificate-authority
// that is a file is read again as it rotates. A cluster without proxy-url is reached as HTTPS_PROXY
// and NO_PROXY say (manager/transport/proxy.h).
//
// Refused, because it would make the connection or the identity less sure:
// insecure-skip-tls-verify, http, no certificate authority, a token beside a client certificate
// (the server would go by the certificate), user name and password. Refused, because we do not do
// it: auth-provider, impersonation by the user entry, an exec plugin that must ask a person. Errors
// are kInvalidArgument, kUnimplemented, or the reader's, and name the file and the entry; never a
// secret.
absl::StatusOr<ClusterConfig> LoadKubeconfig(const std::vector<std::string>& paths,
                                             const KubeconfigOptions& options = {});

struct InClusterOptions {
  std::string cluster_name = "local";
  std::string root = "/var/run/secrets/kubernetes.io/serviceaccount";
  Environment environment = ProcessEnvironment();
  FileReader reader = LocalFileReader();
};

// The pod's own: address from KUBERNETES_SERVICE_HOST and _PORT, CA, token file and namespace from
// the projected volume; the proxy from HTTPS_PROXY and NO_PROXY. kFailedPrecondition names what is
// missing when this is no pod.
absl::StatusOr<ClusterConfig> InClusterConfig(const InClusterOptions& options = {});

}  // namespace mandate

#endif  // MANAGER_KUBECONFIG_KUBECONFIG_H_
