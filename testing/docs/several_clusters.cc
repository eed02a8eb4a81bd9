// The block of docs/several-clusters.md, with what its reader has at that place.
#include <vector>

#include "manager/component.h"

namespace mandate::docs {

constexpr rbac::Mandate kMirrorHub = {"mirror-hub", {}};
constexpr rbac::Mandate kMirrorLeaf = {"mirror-leaf", {}};

absl::StatusOr<Controllers> MakeMirror(const Component& component, RestClient& leaf);

void AddMirror(std::vector<ComponentSpec>& components) {
#include "testing/docs/several_clusters_1.inc"
}

}  // namespace mandate::docs
