// Before anything starts: can the API server be reached, does it accept base's credential, and
// whose is that?
#ifndef MANAGER_BASE_CHECK_H_
#define MANAGER_BASE_CHECK_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "manager/client/rest_client.h"
#include "manager/core/call_context.h"
#include "manager/kubeconfig/cluster_config.h"

namespace mandate {

// Asks for /version, which any credential that is accepted may read; again and again until
// `context` ends while the server cannot be reached. kUnavailable and kUnauthenticated say what to
// look at. Not on the loop.
absl::Status CheckServer(const CallContext& context, RestClient& base, const Endpoint& endpoint);

// Asks which user base's credential is of; again and again until `context` ends, unless the server
// denies it. Errors: kUnavailable, with what to look at. Not on the loop.
absl::StatusOr<std::string> AskBaseUser(const CallContext& context, RestClient& base);

// kFailedPrecondition: the credential is an administrator's certificate (its organisation is
// system:masters), which the manager never runs with. kInvalidArgument: it is no certificate.
absl::Status RefuseAdministrator(const ClusterConfig& cluster);
absl::Status RefuseAdministrator(const ClientCertificate& certificate);

}  // namespace mandate

#endif  // MANAGER_BASE_CHECK_H_
