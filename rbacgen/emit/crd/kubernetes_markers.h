// The markers in the comments of Kubernetes' own .proto files, which come from its Go sources.
#ifndef RBACGEN_EMIT_CRD_KUBERNETES_MARKERS_H_
#define RBACGEN_EMIT_CRD_KUBERNETES_MARKERS_H_

#include <string>
#include <string_view>
#include <vector>

#include "api/mandate/options.pb.h"

namespace mandate::rbacgen {

// What markers without their "+" say of a field or a message. Markers for other tools are passed
// over. A field is required unless a marker calls it optional.
mandate::api::Schema ReadKubernetesMarkers(const std::vector<std::string>& markers);

// Whether it is a marker that means something for a schema: +kubebuilder:…, +optional, +listType….
bool IsSchemaMarker(std::string_view marker);

}  // namespace mandate::rbacgen

#endif  // RBACGEN_EMIT_CRD_KUBERNETES_MARKERS_H_
