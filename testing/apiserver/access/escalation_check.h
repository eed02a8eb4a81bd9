// Who may write roles and bindings, beyond authorization: nobody hands out what they do not hold
// (k8s.io/kubernetes pkg/registry/rbac).
#ifndef TESTING_APISERVER_ACCESS_ESCALATION_CHECK_H_
#define TESTING_APISERVER_ACCESS_ESCALATION_CHECK_H_

#include "absl/status/status.h"
#include "manager/rbac/authorizer.h"
#include "testing/apiserver/plugin.h"

namespace mandate::apiserver {

// OK for writes of anything else. The errors are the API server's, of each code.
absl::Status CheckEscalation(const rbac::Authorizer& authorizer, const WriteAttributes& write);

}  // namespace mandate::apiserver

#endif  // TESTING_APISERVER_ACCESS_ESCALATION_CHECK_H_
