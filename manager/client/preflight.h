// Asks the server, as a component, whether it is who we think and holds what its source declares.
#ifndef MANAGER_CLIENT_PREFLIGHT_H_
#define MANAGER_CLIENT_PREFLIGHT_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "manager/client/rest_client.h"
#include "manager/core/call_context.h"
#include "manager/rbac/mandate.h"
#include "manager/rbac/rule.h"

namespace mandate {

struct PreflightOptions {
  const rbac::Mandate* mandate = nullptr;  // of the client's component
  // Whom the server should see; empty: whoever it is (--identity-mode=single).
  std::string username = {};
  // Of the component's ServiceAccount: for the manifest.
  std::string ns = {};
  std::string service_account = {};
};

struct PreflightReport {
  std::string username;  // whom the server sees
  // What is declared, not external, and not granted; one verb and one resource or URL each.
  struct Missing {
    std::string ns;  // empty: cluster-wide
    rbac::Rule rule;
  };
  std::vector<Missing> missing;
  // The roles and bindings that lack something, whole, as the chart has them: YAML for
  // `kubectl apply -f -`. Empty when nothing is missing.
  std::string manifest;

  // OK, or kFailedPrecondition with what is missing and the manifest.
  absl::Status ToStatus(std::string_view component) const;
};

// One SelfSubjectReview, then one SelfSubjectAccessReview for each declared verb of each resource;
// every authenticated user may. A cluster-wide rule must be granted cluster-wide. Errors:
// kFailedPrecondition when the server takes the component for somebody else; RestClient's. Blocks:
// not on the loop.
absl::StatusOr<PreflightReport> Preflight(const CallContext& context, RestClient& client,
                                          const PreflightOptions& options);

// The (Cluster)Role and binding that give a ServiceAccount `rules`, named as it, in `role_ns` or,
// empty, cluster-wide.
std::string GrantManifest(const std::vector<rbac::Rule>& rules, std::string_view role_ns,
                          std::string_view service_account, std::string_view account_ns);

}  // namespace mandate

#endif  // MANAGER_CLIENT_PREFLIGHT_H_
