// The address of a cluster and the manager's own credential there.
#pragma once

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

// A value, from a kubeconfig or from the pod (kubeconfig.h).
struct ClusterConfig {
  std::string name;   // the name that components use; a kubeconfig does not set it
  Endpoint endpoint;  // without a client certificate: base's is below
  BaseCredential base;
  std::string ns;  // of the context or of the pod; empty: not set
};

}  // namespace mandate
