// Whether the fields of a message have distinct names in JSON for an API server and its clients.
#ifndef RBACGEN_EMIT_CRD_FIELD_NAMES_H_
#define RBACGEN_EMIT_CRD_FIELD_NAMES_H_

#include "google/protobuf/descriptor.h"
#include "rbacgen/emit/crd/proto_files.h"
#include "rbacgen/markers/diagnostics.h"

namespace mandate::rbacgen {

// Of a message that is not Kubernetes' own. Two fields of one name, or of names that differ only in
// case, and names that no path can express are errors at the field's line.
void CheckFieldNames(const google::protobuf::Descriptor& message, const ProtoFiles& files,
                     Diagnostics* diagnostics);

}  // namespace mandate::rbacgen

#endif  // RBACGEN_EMIT_CRD_FIELD_NAMES_H_
