// A real cluster as a target.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "testing/conformance/target.h"

namespace mandate::conformance {

struct ClusterOptions {
  std::string kubeconfig;
  std::string audit_log;     // a file; empty: no log
  std::string etcd;          // https://127.0.0.1:2379; empty: not reachable
  std::string etcd_pki;      // a folder with etcd-ca.crt, etcd.crt and etcd.key
  std::string restart_etcd;  // a shell command; empty: no restarts
  bool uncached = false;     // --watch-cache-sizes=podtemplates#0
  // --enable-admission-plugins=OwnerReferencesPermissionEnforcement
  bool owner_permissions = false;
  std::string crds;  // a folder of manifests, one object per file; empty: no CRDs
};

// The cluster of the kubeconfig's current context, with a client certificate or a token. Errors
// name the file.
absl::StatusOr<Target> TargetOfKubeconfig(const std::string& path);

// Installs the CRDs, and returns when they are served. Errors name the file or request.
absl::StatusOr<Target> ClusterTarget(const ClusterOptions& options);

// Creates the CRDs of the folder on a server, and returns when they are served.
absl::Status InstallCrds(const Target& target, const std::string& folder);

}  // namespace mandate::conformance
