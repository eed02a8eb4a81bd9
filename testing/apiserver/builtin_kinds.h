// The built-in kinds, read out of the descriptors of Kubernetes' .proto files.
#pragma once

#include <memory>
#include <vector>

#include "testing/apiserver/kinds.h"

namespace mandate::apiserver {

// Returns each message X of the served groups that has a message XList. A table has the properties
// that descriptors lack (scope, generation); a kind that is not in the table has the usual ones.
std::vector<std::shared_ptr<const ResourceType>> BuiltinKinds();

}  // namespace mandate::apiserver
