// Our side of the comparison, and wrong versions of it that the comparison must tell apart.
#ifndef TESTING_RBAC_FIDELITY_JUDGE_H_
#define TESTING_RBAC_FIDELITY_JUDGE_H_

#include <functional>
#include <map>
#include <string>

#include "absl/status/status.h"
#include "manager/rbac/authorizer.h"
#include "testing/rbac_fidelity/questions.h"

namespace mandate::fidelity {

using Judge = std::function<bool(const rbac::Authorizer& authorizer, const Question& question)>;

// manager/rbac as it is.
bool Allowed(const rbac::Authorizer& authorizer, const Question& question);

// Mistakes that an authorizer is easily written with, by name.
const std::map<std::string, Judge>& SeededBugs();

// Whether the reason that the server gave is one that our authorizer could have given: which of
// several grants is named, and in which order errors stand, is up to the server's caches.
absl::Status CheckReason(const rbac::Authorizer& authorizer, const Question& question, bool allowed,
                         const std::string& reason);

// The status with which the server must answer the attempt.
int ExpectedStatus(const rbac::Authorizer& authorizer, const GrantAttempt& attempt);

}  // namespace mandate::fidelity

#endif  // TESTING_RBAC_FIDELITY_JUDGE_H_
