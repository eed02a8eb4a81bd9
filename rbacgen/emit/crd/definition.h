// CustomResourceDefinitions, from the messages with option (mandate.api.resource).
#ifndef RBACGEN_EMIT_CRD_DEFINITION_H_
#define RBACGEN_EMIT_CRD_DEFINITION_H_

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
  // A YAML document that names the .proto files which it comes from.
  std::string text;
};

// One for each group and plural, in the order of their file names. Mistakes are diagnostics.
std::vector<Definition> MakeDefinitions(
    const std::vector<const google::protobuf::FileDescriptor*>& sources, const ProtoFiles& files,
    const YamlOptions& options, Diagnostics* diagnostics);

}  // namespace mandate::rbacgen

#endif  // RBACGEN_EMIT_CRD_DEFINITION_H_
