// Makes spec.conversion of a definition: how a kind's versions are converted.
#pragma once

#include "rbacgen/emit/crd/resource_version.h"
#include "rbacgen/markers/diagnostics.h"
#include "rbacgen/yaml/yaml.h"

namespace mandate::rbacgen {

// Reads the option of the stored version; null if it is not set. Mistakes are reported as
// diagnostics.
Yaml ConversionYaml(const ResourceVersion& stored, const YamlOptions& options,
                    Diagnostics* diagnostics);

}  // namespace mandate::rbacgen
