// Kubernetes' messages whose JSON is not an object with the message's fields.
#pragma once

#include <optional>

#include "google/protobuf/descriptor.h"
#include "rbacgen/emit/crd/schema_node.h"

namespace mandate::rbacgen {

// The schema of the message as in controller-gen v0.23, without a description; nullopt if its JSON
// is an object with its fields. ObjectMeta is for a nested object or template. Unlike
// controller-gen, a Duration has a pattern: without it, the API server would store text that the
// codec rejects.
std::optional<SchemaNode> KnownType(const google::protobuf::Descriptor& message);

bool IsObjectMeta(const google::protobuf::Descriptor& message);

}  // namespace mandate::rbacgen
