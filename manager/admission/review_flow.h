// The reviews that share a turn.
#pragma once

#include <string>
#include <string_view>

namespace mandate {

// Returns the flow of a user's reviews: the user's name, or the namespace of a ServiceAccount. A
// user with the permission to create ServiceAccounts in a namespace can act as any number of them.
//
//   FlowOf("ann") is "ann"; FlowOf("system:serviceaccount:shop:cart") is
//   "system:serviceaccount:shop"
std::string FlowOf(std::string_view user);

}  // namespace mandate
