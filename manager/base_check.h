// Checks of base's credential before the manager starts: that the API server is reachable and
// accepts it, and which user it belongs to.
#ifndef MANAGER_BASE_CHECK_H_
#define MANAGER_BASE_CHECK_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "manager/client/rest_client.h"
#include "manager/core/call_context.h"
#include "manager/kubeconfig/cluster_config.h"

namespace mandate {

// Requests /version, which every authenticated user may read. Retries until `context` ends while
// the server is unreachable. kUnavailable and kUnauthenticated name the next step. Not on the loop.
absl::Status CheckServer(const CallContext& context, RestClient& base, const Endpoint& endpoint);

// Returns the user of base's credential. Retries until `context` ends, but not after a denial.
// kUnavailable names the next step. Not on the loop.
absl::StatusOr<std::string> AskBaseUser(const CallContext& context, RestClient& base);

// kFailedPrecondition: the credential is an administrator's certificate (its organisation is
// system:masters), with which the manager never runs. kInvalidArgument: it is not a certificate.
absl::Status RefuseAdministrator(const ClusterConfig& cluster);
absl::Status RefuseAdministrator(const ClientCertificate& certificate);

}  // namespace mandate

#endif  // MANAGER_BASE_CHECK_H_
