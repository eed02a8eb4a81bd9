#include "manager/admission/review_flow.h"

#include "manager/core/strings.h"
#include "manager/rbac/user.h"

namespace mandate {

std::string FlowOf(std::string_view user) {
  const auto account = rbac::ParseServiceAccountUser(user);
  if (!account.has_value()) return std::string(user);
  return StrCat(rbac::kServiceAccountUserPrefix, account->ns);
}

}  // namespace mandate
