// Asks the API server, as a component, for its user name and for the permissions that its source
// declares.
#pragma once

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
  // The namespace and name of the component's ServiceAccount, which names the roles of the
  // manifest.
  std::string ns = {};
  std::string service_account = {};
  // kImpersonate: base's own client, which asks whether base may act as the component. Outlives
  // the preflight.
  RestClient* base = nullptr;
  // The namespaces that the manager watches. A rule without a namespace may then be granted in the
  // whole cluster, or in each of these. Empty: in the whole cluster.
  std::vector<std::string> watch_namespaces = {};
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

// Sends one SelfSubjectReview, then one SelfSubjectAccessReview for each declared verb of each
// resource, several at a time. Every authenticated user may create these reviews. A rule without a
// namespace must be granted in the whole cluster, or in each of the watched namespaces. In mode
// impersonate, base's grants are checked first; if base lacks one, the report has only base's.
// Errors: kFailedPrecondition if the server authenticates the component as another user, or if it
// does not support constrained impersonation; those of RestClient. Blocks: not on the loop.
absl::StatusOr<PreflightReport> Preflight(const CallContext& context, RestClient& client,
                                          const PreflightOptions& options);

// The same as a check for a PreflightLoop. `client` outlives it.
std::function<absl::Status(const CallContext&)> PreflightCheck(RestClient& client,
                                                               PreflightOptions options);

}  // namespace mandate
