// Compares a TokenRequest with those that the manager sends.
#pragma once

#include <string>
#include <vector>

#include "rbacgen/audit/event_body.h"

namespace mandate::rbacgen {

// How a request for the ServiceAccount differs from the manager's, in words; empty if it does not
// differ. The manager requests an hour, and `audiences` or no audience; it binds the token to the
// Secret with the account's name, or does not bind it.
std::vector<std::string> Unlike(const TokenRequestFacts& request, const std::string& account,
                                const std::vector<std::string>& audiences);

}  // namespace mandate::rbacgen
