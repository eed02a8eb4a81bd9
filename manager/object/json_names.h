// The JSON names of the fields of .proto files, for built-in kinds and the project's own. The codec
// and the generator of CRDs both use them, so that both use the same name.
//
// The exceptions are from the Go tags of k8s.io/api and k8s.io/apimachinery v0.36.3: fields tagged
// json:",inline", and fields whose protobuf name is not their JSON name.
#pragma once

#include <string_view>

#include "google/protobuf/descriptor.h"

namespace mandate {

// The field's name in JSON. It is protobuf's (replica_count becomes replicaCount; [json_name = "…"]
// overrides it), except for the fields above, which have the name of their Go tag. It lives as long
// as the descriptor.
std::string_view JsonName(const google::protobuf::FieldDescriptor& field);

// Whether the field's members are members of the JSON object of the message that has the field.
bool IsFlattened(std::string_view field);

}  // namespace mandate
