// What a field of a .proto file is called in JSON, for built-in kinds and one's own: the codec and
// the generator of CRDs both ask here, so that the API server knows a field by the name that is
// sent.
//
// Where Kubernetes' JSON and its .proto files differ is from the Go tags of k8s.io/api and
// k8s.io/apimachinery v0.36.3: fields tagged json:",inline", and those whose protobuf name is not
// their JSON name.
#ifndef MANAGER_OBJECT_JSON_NAMES_H_
#define MANAGER_OBJECT_JSON_NAMES_H_

#include <string_view>

#include "google/protobuf/descriptor.h"

namespace mandate {

// protobuf's: replica_count is replicaCount, and [json_name = "…"] counts; Kubernetes' own where
// that is another. Lives as long as the descriptor.
std::string_view JsonName(const google::protobuf::FieldDescriptor& field);

// Whether the field's members stand in the JSON object of the message that holds it.
bool IsFlattened(std::string_view field);

}  // namespace mandate

#endif  // MANAGER_OBJECT_JSON_NAMES_H_
