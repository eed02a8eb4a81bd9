// One version of a kind: a message with option (mandate.api.resource).
#pragma once

#include <string>

#include "api/mandate/options.pb.h"
#include "google/protobuf/descriptor.h"
#include "rbacgen/emit/crd/schema_node.h"
#include "rbacgen/markers/diagnostics.h"

namespace mandate::rbacgen {

struct ResourceVersion {
  std::string kind;
  mandate::api::Resource resource;
  SchemaNode schema;
  // The place of the option.
  Place place;
  // The .proto file, by the name that imports use.
  std::string source;
};

// Checks for names, scope, columns and paths that the API server would reject or never fill in.
void CheckResource(const ResourceVersion& version, Diagnostics* diagnostics);

// spec.names of the definition.
Yaml::Map NamesYaml(const ResourceVersion& version);

// One item of spec.versions.
Yaml VersionYaml(const ResourceVersion& version, bool stored, const YamlOptions& options);

}  // namespace mandate::rbacgen
