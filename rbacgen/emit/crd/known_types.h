// Kubernetes' messages whose JSON is not an object of their fields.
#ifndef RBACGEN_EMIT_CRD_KNOWN_TYPES_H_
#define RBACGEN_EMIT_CRD_KNOWN_TYPES_H_

#include <optional>

#include "google/protobuf/descriptor.h"
#include "rbacgen/emit/crd/schema_node.h"

namespace mandate::rbacgen {

// The message's schema as in controller-gen v0.23, without description; nullopt if the message is
// an object of its fields. ObjectMeta is that of a nested object or template. A Duration has a
// pattern, which controller-gen lacks: the API server would store a text that the codec rejects.
std::optional<SchemaNode> KnownType(const google::protobuf::Descriptor& message);

bool IsObjectMeta(const google::protobuf::Descriptor& message);

}  // namespace mandate::rbacgen

#endif  // RBACGEN_EMIT_CRD_KNOWN_TYPES_H_
