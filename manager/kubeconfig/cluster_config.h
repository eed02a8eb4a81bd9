// Where a cluster is and how the manager's own identity proves itself there.
#ifndef MANAGER_KUBECONFIG_CLUSTER_CONFIG_H_
#define MANAGER_KUBECONFIG_CLUSTER_CONFIG_H_

#include <memory>
#include <string>
#include <variant>

#include "manager/core/secret.h"
#include "manager/kubeconfig/exec_plugin.h"
#include "manager/transport/transport.h"

namespace mandate {

struct TokenFile {
  std::string path;
};
struct StaticToken {
  std::shared_ptr<const Secret> token;
};
using BaseCredential = std::variant<TokenFile, StaticToken, ClientCertificate, ExecPlugin>;

// A value. Of a kubeconfig or of the pod's surroundings: kubeconfig.h.
struct ClusterConfig {
  std::string name;   // what components call it
  Endpoint endpoint;  // without a client certificate: that is base's, below
  BaseCredential base;
  std::string ns;  // the context's namespace, or the pod's; empty: none was said
};

}  // namespace mandate

#endif  // MANAGER_KUBECONFIG_CLUSTER_CONFIG_H_
