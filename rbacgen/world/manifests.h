// Reads RBAC objects, ServiceAccounts and the names of custom resources from YAML and JSON.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "rbacgen/world/world.h"

namespace mandate::rbacgen {

// Reads the YAML or JSON documents of `text` (ReadDocuments). As for kubectl, an object with
// `items` is a list: its items count, and have the kind and apiVersion of the list if they have
// neither. An array is a list too. Objects of other kinds are skipped. Aggregated ClusterRoles are
// left to ResolveAggregates(). A namespaced object without a namespace is in `default_ns`. Messages
// use `name`. InvalidArgument, with the place, if ReadDocuments cannot read the text, if a document
// or item is neither null nor an object with kind and apiVersion, or if the text is a Helm template
// that must be rendered first.
absl::StatusOr<World> ReadManifests(const std::string& name, std::string_view text,
                                    const std::string& default_ns);

}  // namespace mandate::rbacgen
