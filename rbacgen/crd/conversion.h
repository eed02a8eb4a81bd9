// How a kind's versions are converted: spec.conversion of a definition.
#ifndef RBACGEN_CRD_CONVERSION_H_
#define RBACGEN_CRD_CONVERSION_H_

#include "rbacgen/crd/resource_version.h"
#include "rbacgen/diagnostics.h"
#include "rbacgen/yaml.h"

namespace mandate::rbacgen {

// Of the version that is stored; null if it says nothing. Mistakes are diagnostics.
Yaml ConversionYaml(const ResourceVersion& stored, const YamlOptions& options,
                    Diagnostics* diagnostics);

}  // namespace mandate::rbacgen

#endif  // RBACGEN_CRD_CONVERSION_H_
