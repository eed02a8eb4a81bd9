#include "rbacgen/audit/token_request_rules.h"

#include <algorithm>

#include "manager/core/strings.h"

namespace mandate::rbacgen {

std::vector<std::string> Unlike(const TokenRequestFacts& request, const std::string& account,
                                const std::vector<std::string>& audiences) {
  constexpr int64_t kHour = 3600;
  std::vector<std::string> differences;
  if (request.expiration_seconds > kHour) {
    differences.push_back(StrCat("valid for ", request.expiration_seconds, " s"));
  }
  for (const std::string& audience : request.audiences) {
    if (std::ranges::find(audiences, audience) == audiences.end()) {
      differences.push_back(StrCat("for the audience ", audience));
    }
  }
  if (!request.bound_kind.empty() &&
      (request.bound_kind != "Secret" || request.bound_name != account)) {
    differences.push_back(StrCat("bound to the ", request.bound_kind, " ", request.bound_name));
  }
  return differences;
}

}  // namespace mandate::rbacgen
