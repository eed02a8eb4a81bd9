// RBAC objects, ServiceAccounts and the names of custom resources from YAML and JSON.
#ifndef RBACGEN_WORLD_MANIFESTS_H_
#define RBACGEN_WORLD_MANIFESTS_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "rbacgen/world/world.h"

namespace mandate::rbacgen {

// Documents of YAML or JSON (ReadDocuments). An object with `items` is a list, as for kubectl: the
// items count, and have the kind and apiVersion of the list if they have neither; an array is a
// list too. Objects of other kinds are skipped. Aggregated ClusterRoles wait for
// ResolveAggregates(). An object of a namespace that names none is in `default_ns`. `name` is for
// messages. InvalidArgument with the place: text that ReadDocuments cannot read, a document or item
// that is not null and not an object with kind and apiVersion, or a Helm template that must be
// rendered first.
absl::StatusOr<World> ReadManifests(const std::string& name, std::string_view text,
                                    const std::string& default_ns);

}  // namespace mandate::rbacgen

#endif  // RBACGEN_WORLD_MANIFESTS_H_
