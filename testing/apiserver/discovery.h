// What the server says of itself: versions, health, groups and resources.
#ifndef TESTING_APISERVER_DISCOVERY_H_
#define TESTING_APISERVER_DISCOVERY_H_

#include <memory>
#include <string>
#include <vector>

#include "testing/apiserver/core.h"
#include "testing/apiserver/exchange.h"

namespace mandate::apiserver {

// Answers a request that is none for a resource: /version, /healthz, /livez, /readyz, /api, /apis
// and what is below them (aggregated, too: apidiscovery.k8s.io/v2), 404 for other paths.
void AnswerPath(const Core& core, const std::vector<VirtualResource>& virtual_resources,
                Exchange& exchange);

}  // namespace mandate::apiserver

#endif  // TESTING_APISERVER_DISCOVERY_H_
