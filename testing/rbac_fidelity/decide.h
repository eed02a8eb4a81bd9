// Our side of the comparison, and wrong versions of it that the comparison must detect.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "absl/status/status.h"
#include "manager/rbac/authorizer.h"
#include "testing/rbac_fidelity/questions.h"

namespace mandate::fidelity {

using Decision = std::function<bool(const rbac::Authorizer& authorizer, const Question& question)>;

// The decision of manager/rbac.
bool Allowed(const rbac::Authorizer& authorizer, const Question& question);

// Authorizers with typical mistakes, by the mistake's name.
const std::map<std::string, Decision>& SeededBugs();

// OK if our authorizer could have given the server's reason. The server's caches determine which of
// several grants it names, and the order of errors.
absl::Status CheckReason(const rbac::Authorizer& authorizer, const Question& question, bool allowed,
                         const std::string& reason);

// The HTTP status with which the server must answer the attempt.
int ExpectedStatus(const rbac::Authorizer& authorizer, const GrantAttempt& attempt);

}  // namespace mandate::fidelity
