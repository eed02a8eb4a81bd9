// Checks of base's credential before the manager starts: that the API server is reachable and
// accepts it, and which user it belongs to.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "manager/client/rest_client.h"
#include "manager/core/call_context.h"
#include "manager/kubeconfig/cluster_config.h"
#include "manager/rbac/rule.h"

namespace mandate {

// Requests /version, which every authenticated user may read. Retries until `context` ends while
// the server is unreachable. kUnavailable and kUnauthenticated name the next step. Not on the loop.
absl::Status CheckServer(const CallContext& context, RestClient& base, const Endpoint& endpoint);

// Returns the user of base's credential. Retries until `context` ends, but not after a denial.
// kUnavailable names the next step. Not on the loop.
absl::StatusOr<std::string> AskBaseUser(const CallContext& context, RestClient& base);

// kInvalidArgument: base (`user`) is a ServiceAccount of another namespace than `ns`, and may not
// do what `needed` says in `ns`. The message names --namespace and the value to use. OK also
// without an answer: the requests that need the permission report it. Not on the loop.
absl::Status CheckNamespace(const CallContext& context, RestClient& base, std::string_view user,
                            std::string_view ns, const rbac::Rule& needed);

// kFailedPrecondition: the credential is an administrator's certificate (its organisation is
// system:masters), with which the manager never runs. kInvalidArgument: it is not a certificate.
// `service_account` is the one to use.
absl::Status RejectAdministrator(const ClusterConfig& cluster, std::string_view service_account);
absl::Status RejectAdministrator(const ClientCertificate& certificate,
                                 std::string_view service_account);

}  // namespace mandate
