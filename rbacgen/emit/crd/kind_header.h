// Writes the KindOf of messages with option (mandate.api.resource) as a C++ header
// (manager/object/kind.h).
#pragma once

#include <string>
#include <vector>

#include "google/protobuf/descriptor.h"

namespace mandate::rbacgen {

// The complete header, with the kinds in the order of their files; "" if the files have none. The
// options are valid: MakeDefinitions() checks them.
std::string WriteKindHeader(const std::vector<const google::protobuf::FileDescriptor*>& sources);

}  // namespace mandate::rbacgen
