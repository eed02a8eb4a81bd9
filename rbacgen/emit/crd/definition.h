// Makes CustomResourceDefinitions from the messages with option (mandate.api.resource).
#pragma once

#include <string>
#include <vector>

#include "google/protobuf/descriptor.h"
#include "rbacgen/emit/crd/proto_files.h"
#include "rbacgen/emit/crd/schema_node.h"
#include "rbacgen/markers/diagnostics.h"

namespace mandate::rbacgen {

struct Definition {
  // <group>_<plural>.yaml
  std::string file;
  // A YAML document that names its .proto files.
  std::string text;
  // "widgets.example.com"
  std::string name;
  bool cluster_scoped = false;
};

// One definition for each group and plural, sorted by file name. Mistakes are reported as
// diagnostics.
std::vector<Definition> MakeDefinitions(
    const std::vector<const google::protobuf::FileDescriptor*>& sources, const ProtoFiles& files,
    const YamlOptions& options, Diagnostics* diagnostics);

}  // namespace mandate::rbacgen
