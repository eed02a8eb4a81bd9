// Checks that the fields of a message have distinct names in JSON for an API server and its
// clients.
#pragma once

#include "google/protobuf/descriptor.h"
#include "rbacgen/emit/crd/proto_files.h"
#include "rbacgen/markers/diagnostics.h"

namespace mandate::rbacgen {

// For a message that is not Kubernetes' own. Reports at the field's line: two fields with the same
// name or with names that differ only in case, and names that a path cannot express.
void CheckFieldNames(const google::protobuf::Descriptor& message, const ProtoFiles& files,
                     Diagnostics* diagnostics);

}  // namespace mandate::rbacgen
