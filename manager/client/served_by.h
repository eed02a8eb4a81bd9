// Which server answers a request: the API server, or one that it passes the request on to.
#ifndef MANAGER_CLIENT_SERVED_BY_H_
#define MANAGER_CLIENT_SERVED_BY_H_

#include <string_view>

namespace mandate {

// Whether the API server itself answers requests of this target ("/api/v1/pods?limit=5"), for
// certain: those of no group, and of the groups that are built into it. Any other group may be an
// extension's (APIService), whose answers the API server passes on as they are.
bool IsServedByApiServer(std::string_view target);

}  // namespace mandate

#endif  // MANAGER_CLIENT_SERVED_BY_H_
