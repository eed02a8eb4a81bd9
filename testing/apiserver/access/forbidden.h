// The message of the API server's 403 (k8s.io/apiserver responsewriters.ForbiddenStatusError).
#pragma once

#include <string>
#include <string_view>

#include "manager/rbac/rule.h"

namespace mandate::rbac {

// The whole message: 'pods "web" is forbidden: User "jane" cannot get resource "pods" in API group
// "" in the namespace "shop"', followed by ": " and the decision's reason if it has one.
std::string ForbiddenMessage(std::string_view user, const Attributes& request,
                             std::string_view reason = "");

}  // namespace mandate::rbac
