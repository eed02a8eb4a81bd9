// What authorization makes of a request that it refuses.
#ifndef TESTING_APISERVER_ACCESS_AUTHORIZATION_H_
#define TESTING_APISERVER_ACCESS_AUTHORIZATION_H_

#include <string_view>

#include "absl/status/status.h"
#include "manager/rbac/rule.h"
#include "manager/rbac/user.h"

namespace mandate::apiserver {

// The 403, with the decision's reason when it has one.
absl::Status NotAuthorized(const rbac::UserInfo& user, const rbac::Attributes& request,
                           std::string_view reason);

}  // namespace mandate::apiserver

#endif  // TESTING_APISERVER_ACCESS_AUTHORIZATION_H_
