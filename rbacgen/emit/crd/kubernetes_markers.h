// The markers in the comments of Kubernetes' own .proto files, which come from its Go sources.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/mandate/options.pb.h"

namespace mandate::rbacgen {

// Reads the markers of a field or message, given without their "+". Markers for other tools are
// skipped. A field is required unless a marker makes it optional.
mandate::api::Schema ReadKubernetesMarkers(const std::vector<std::string>& markers);

// Whether the marker has a meaning for a schema: +kubebuilder:…, +optional, +listType….
bool IsSchemaMarker(std::string_view marker);

}  // namespace mandate::rbacgen
