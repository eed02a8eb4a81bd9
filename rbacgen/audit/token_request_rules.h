// How a TokenRequest differs from those that the manager sends.
#ifndef RBACGEN_AUDIT_TOKEN_REQUEST_RULES_H_
#define RBACGEN_AUDIT_TOKEN_REQUEST_RULES_H_

#include <string>
#include <vector>

#include "rbacgen/audit/event_body.h"

namespace mandate::rbacgen {

// The differences of a request for the ServiceAccount, in words; empty if it has none. The manager
// asks for an hour, for `audiences` or none, and binds the token to the Secret of the account's
// name or to nothing.
std::vector<std::string> Unlike(const TokenRequestFacts& request, const std::string& account,
                                const std::vector<std::string>& audiences);

}  // namespace mandate::rbacgen

#endif  // RBACGEN_AUDIT_TOKEN_REQUEST_RULES_H_
