// The fields of Kubernetes' messages that may be absent although no marker in their comments makes
// them optional.
//
// These fields of k8s.io/api and k8s.io/apimachinery v0.36.3 have the Go tag omitempty, but not
// +optional or +required above them. The .proto files do not have this.
#pragma once

#include "google/protobuf/descriptor.h"

namespace mandate::rbacgen {

// Whether the field of a Kubernetes message is one of these, in any version of its group.
bool IsOptionalUnmarked(const google::protobuf::FieldDescriptor& field);

}  // namespace mandate::rbacgen
