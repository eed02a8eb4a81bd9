// Asks the API server, as a component, for its user name and for the permissions that its source
// declares.
#ifndef MANAGER_PREFLIGHT_H_
#define MANAGER_PREFLIGHT_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "manager/client/rest_client.h"
#include "manager/core/call_context.h"
#include "manager/identity/identity_mode.h"
#include "manager/rbac/mandate.h"
#include "manager/rbac/rule.h"

namespace mandate {

struct PreflightOptions {
  const rbac::Mandate* mandate = nullptr;  // of the client's component
  IdentityMode mode = IdentityMode::kToken;
  // The expected user; empty: any.
  std::string username = {};
  // Of the component's ServiceAccount, which names the roles of the manifest.
  std::string ns = {};
  std::string service_account = {};
  // kImpersonate: base's own client, which asks whether base may act as the component. Outlives
  // the preflight.
  RestClient* base = nullptr;
};

struct PreflightReport {
  // The identity that lacks permissions, for the message: "component scope
  // (system:serviceaccount:…)"; base in mode single, and in mode impersonate if base lacks some.
  std::string subject;
  // The permissions that are declared, not external, and not granted. Each has one verb and one
  // resource or URL.
  struct Missing {
    std::string ns;  // empty: cluster-wide
    rbac::Rule rule;
  };
  std::vector<Missing> missing;
  // The roles and bindings that lack a permission, whole, as in the chart: YAML for `kubectl apply
  // -f -`. Empty if none is missing.
  std::string manifest;
  // The server's reason, if it gives one: a binding whose role is missing, or another authorizer.
  std::string reason;

  // OK, or kFailedPrecondition with what is missing and the manifest.
  absl::Status ToStatus() const;
};

// One SelfSubjectReview, then one SelfSubjectAccessReview for each declared verb of each resource,
// some at a time; every authenticated user may. A cluster-wide rule must be granted cluster-wide.
// In mode impersonate base's own grants come first, and while they lack something, only they are
// reported. Errors: kFailedPrecondition when the server takes the component for somebody else, or
// knows no constrained impersonation; RestClient's. Blocks: not on the loop.
absl::StatusOr<PreflightReport> Preflight(const CallContext& context, RestClient& client,
                                          const PreflightOptions& options);

// The same as a check for a PreflightLoop. `client` outlives it.
std::function<absl::Status(const CallContext&)> PreflightCheck(RestClient& client,
                                                               PreflightOptions options);

}  // namespace mandate

#endif  // MANAGER_PREFLIGHT_H_
