// The built-in kinds, read out of the descriptors of Kubernetes' .proto files.
#ifndef TESTING_APISERVER_BUILTIN_KINDS_H_
#define TESTING_APISERVER_BUILTIN_KINDS_H_

#include <memory>
#include <vector>

#include "testing/apiserver/kinds.h"

namespace mandate::apiserver {

// Each message X of the groups served for which there is an XList. What descriptors do not say
// (scope, generation) stands in a table here; of a kind it does not name, the common case holds.
std::vector<std::shared_ptr<const ResourceType>> BuiltinKinds();

}  // namespace mandate::apiserver

#endif  // TESTING_APISERVER_BUILTIN_KINDS_H_
