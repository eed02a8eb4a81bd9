// An operator in two clusters (docs/several-clusters.md): it copies the ConfigMaps of the namespace
// "mirrored" from the manager's cluster to the cluster "leaf", and corrects the copies there.
//
// +mandate:component:name=mirror-hub
// +kubebuilder:rbac:groups=core,resources=configmaps,verbs=list;watch,namespace=mirrored
//
// +mandate:component:name=mirror-leaf
// +kubebuilder:rbac:groups=core,resources=configmaps,verbs=list;watch;create;patch;delete,namespace=mirrored
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "manager/component.h"
#include "manager/controller/controller.h"
#include "manager/controller/request_channel.h"
#include "testing/several_clusters/mandates.h"

namespace mandate::mirror {

inline constexpr char kNamespace[] = "mirrored";

// The controller of mirror-leaf: a change of a copy is a request of mirror-hub.
absl::StatusOr<std::unique_ptr<Controller>> MakeLeafController(const Component& leaf,
                                                               std::shared_ptr<RequestChannel> hub);

// The controller of mirror-hub, which writes the copies as mirror-leaf.
absl::StatusOr<std::unique_ptr<Controller>> MakeHubController(
    const Component& hub, const Component& leaf, std::shared_ptr<RequestChannel> requests);

}  // namespace mandate::mirror
