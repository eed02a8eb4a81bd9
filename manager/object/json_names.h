// Where Kubernetes' JSON and its .proto files differ in shape: names that are spelt otherwise, and
// messages that Go embeds, whose members stand in the parent's object.
//
// From the Go tags of k8s.io/api and k8s.io/apimachinery v0.36.3: fields tagged json:",inline", and
// those whose protobuf name is not their JSON name.
#ifndef MANAGER_OBJECT_JSON_NAMES_H_
#define MANAGER_OBJECT_JSON_NAMES_H_

#include <string_view>

namespace mandate {

// Of a field by its full name: its JSON name where that is not the field's own, else "".
std::string_view JsonNameOverride(std::string_view field);

// Whether the field's members stand in the JSON object of the message that holds it.
bool IsFlattened(std::string_view field);

}  // namespace mandate

#endif  // MANAGER_OBJECT_JSON_NAMES_H_
