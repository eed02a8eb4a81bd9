// The comparison's requests to a real API server. All bodies are protobuf.
#pragma once

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

// Creates the namespaces and objects. An object that exists from a run with the same seed is
// accepted.
absl::Status Load(HttpClient& http, const World& world);

// Returns when the server's authorizer has seen all objects that were created before: creates one
// last object of each kind, and asks until both bindings take effect. kUnavailable if they do not.
absl::Status AwaitAuthorizer(HttpClient& http, const World& world);

// Lists all RBAC objects of the server, including its own.
absl::StatusOr<rbac::Policy> ListPolicy(HttpClient& http);

// Sends one SubjectAccessReview per question.
absl::StatusOr<std::vector<Answer>> Review(HttpClient& http,
                                           const std::vector<Question>& questions);

// Returns the server's HTTP status for each attempt: 201, or the status of the error. Nothing is
// stored.
absl::StatusOr<std::vector<int>> TryGrants(HttpClient& http,
                                           const std::vector<GrantAttempt>& attempts);

}  // namespace mandate::fidelity
