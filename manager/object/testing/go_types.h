// Reads the tags of the fields of Kubernetes' Go types from the modules' sources. Go writes a value
// in JSON and in protobuf by these tags, which .proto files do not repeat.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace mandate {

struct GoField {
  std::string json_name;    // "" when the field is embedded and flattened
  bool omit_empty = false;  // omitted from JSON when it is zero
  bool pointer = false;     // omitted from protobuf when it is nil; other fields are always written
};

// By the message's full name, such as "k8s.io.api.core.v1.Pod", and the field's number.
using GoFields = std::map<std::pair<std::string, int>, GoField>;

// Adds the fields of the structs in one Go file of a package, such as "k8s.io.api.core.v1".
void ReadGoFields(std::string_view source, std::string_view package, GoFields* fields);

// Reads all Go files below root/k8s.io. `root` is a repository of third_party/bazel/kubernetes.bzl.
GoFields ReadAllGoFields(const std::string& root);

// "rbac.authorization.k8s.io" → "k8s.io.api.rbac", for every group that a register.go names.
std::map<std::string, std::string> ReadGroupPackages(const std::string& root);

}  // namespace mandate
