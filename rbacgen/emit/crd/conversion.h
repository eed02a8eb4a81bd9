// How a kind's versions are converted: spec.conversion of a definition.
#ifndef RBACGEN_EMIT_CRD_CONVERSION_H_
#define RBACGEN_EMIT_CRD_CONVERSION_H_

#include "rbacgen/emit/crd/resource_version.h"
#include "rbacgen/markers/diagnostics.h"
#include "rbacgen/yaml/yaml.h"

namespace mandate::rbacgen {

// Of the version that is stored; null if it says nothing. Mistakes are diagnostics.
Yaml ConversionYaml(const ResourceVersion& stored, const YamlOptions& options,
                    Diagnostics* diagnostics);

}  // namespace mandate::rbacgen

#endif  // RBACGEN_EMIT_CRD_CONVERSION_H_
