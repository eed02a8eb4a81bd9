// RBAC objects, ServiceAccounts and the names of custom resources from YAML and JSON.
#ifndef RBACGEN_ANALYSIS_MANIFESTS_H_
#define RBACGEN_ANALYSIS_MANIFESTS_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "rbacgen/analysis/world.h"

namespace mandate::rbacgen {

// Documents of YAML, or JSON; lists (`kubectl get … -o json`) and arrays count as their items.
// Objects of other kinds are passed over. Aggregated ClusterRoles wait for ResolveAggregates(). An
// object of a namespace that names none is in `default_ns`. `name` is for messages. InvalidArgument
// with the place: no YAML, or a Helm template that is to be rendered first.
absl::StatusOr<World> ReadManifests(const std::string& name, std::string_view text,
                                    const std::string& default_ns);

}  // namespace mandate::rbacgen

#endif  // RBACGEN_ANALYSIS_MANIFESTS_H_
