// The manager's own credential on the double, for tests of a whole Manager.
#ifndef MANAGER_TESTING_BASE_H_
#define MANAGER_TESTING_BASE_H_

#include <string>
#include <vector>

#include "testing/apiserver/server_core.h"

namespace mandate {

inline constexpr char kBaseToken[] = "base-of-the-double";

// Adds base, with the token above, in namespace "default": it may request tokens of these
// components and use the Lease, as the chart grants it.
void AddBase(const std::vector<std::string>& components, apiserver::ServerOptions& serve);

}  // namespace mandate

#endif  // MANAGER_TESTING_BASE_H_
