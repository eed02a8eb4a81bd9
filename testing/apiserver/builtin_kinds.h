// The built-in kinds, from Kubernetes' discovery and the descriptors of its .proto files.
#pragma once

#include <memory>
#include <vector>

#include "testing/apiserver/kinds.h"

namespace mandate::apiserver {

// Returns each kind of the served groups that can be listed. Tables have what discovery lacks (who
// has a generation, and whose DELETE returns the object).
std::vector<std::shared_ptr<const ResourceType>> BuiltinKinds();

}  // namespace mandate::apiserver
