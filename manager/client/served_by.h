// Decides which server answers a request: the API server, or one to which it forwards the request.
#pragma once

#include <string_view>

namespace mandate {

// Whether the API server itself certainly answers requests of this target ("/api/v1/pods?limit=5"):
// requests without a group, and requests of the built-in groups. Any other group may belong to an
// extension (APIService), whose answers the API server forwards unchanged.
bool IsServedByApiServer(std::string_view target);

}  // namespace mandate
