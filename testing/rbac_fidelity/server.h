// What the comparison asks of a real API server; everything travels as protobuf.
#ifndef TESTING_RBAC_FIDELITY_SERVER_H_
#define TESTING_RBAC_FIDELITY_SERVER_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "manager/rbac/policy.h"
#include "testing/rbac_fidelity/questions.h"
#include "testing/rbac_fidelity/request.h"

namespace mandate::fidelity {

struct Answer {
  bool allowed = false;
  std::string reason;
};

// Creates the namespaces and objects; one that is there already, from a run with the same seed, is
// fine.
absl::Status Load(HttpClient& http, const World& world);

// Returns when the server's authorizer has seen everything that was created before: it creates one
// last object of each kind and asks until both bindings count. Unavailable if they never do.
absl::Status AwaitAuthorizer(HttpClient& http, const World& world);

// Every RBAC object of the server, its own ones as well.
absl::StatusOr<rbac::Policy> ListPolicy(HttpClient& http);

// One SubjectAccessReview per question.
absl::StatusOr<std::vector<Answer>> Review(HttpClient& http,
                                           const std::vector<Question>& questions);

// What the server answers to each attempt: 201, or the status of its refusal. Nothing is stored.
absl::StatusOr<std::vector<int>> TryGrants(HttpClient& http,
                                           const std::vector<GrantAttempt>& attempts);

}  // namespace mandate::fidelity

#endif  // TESTING_RBAC_FIDELITY_SERVER_H_
