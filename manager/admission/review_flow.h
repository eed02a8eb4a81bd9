// Whose reviews share a turn.
#pragma once

#include <string>
#include <string_view>

namespace mandate {

// The flow of a user's reviews: the user's name, and for a ServiceAccount its namespace, because
// whoever may create ServiceAccounts in a namespace may act as any number of users.
//
//   FlowOf("ann") is "ann"; FlowOf("system:serviceaccount:shop:cart") is
//   "system:serviceaccount:shop"
std::string FlowOf(std::string_view user);

}  // namespace mandate
