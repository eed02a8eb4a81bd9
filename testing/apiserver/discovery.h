// Discovery: version, health, groups and resources.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "testing/apiserver/core.h"
#include "testing/apiserver/exchange.h"

namespace mandate::apiserver {

// Answers a request that names no resource: /version, /healthz, /livez, /readyz, /api, /apis and
// the paths below them (also aggregated: apidiscovery.k8s.io/v2). The response for any other path
// is 404.
void AnswerPath(const Core& core, const std::vector<VirtualResource>& virtual_resources,
                Exchange& exchange);

}  // namespace mandate::apiserver
