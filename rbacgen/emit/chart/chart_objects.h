// The Kubernetes objects that give components, and the manager itself, their identities and grants.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "rbacgen/emit/chart/chart_switches.h"
#include "rbacgen/emit/chart/object_maker.h"
#include "rbacgen/markers/mandates.h"
#include "rbacgen/yaml/yaml.h"

namespace mandate::rbacgen {

struct ChartOptions {
  ChartNames names;
  ChartSettings settings;
  // Cluster-scoped resources of CRDs: "widgets.example.com".
  std::set<std::string> cluster_scoped = {};
};

// Objects that belong together: those of base, or of one component.
struct ChartFile {
  std::string name;
  Yaml::Condition condition;  // if false, none of the objects exists
  std::vector<Yaml> objects;
};

// The objects of base: a ServiceAccount, its Lease, and a Role to mint the components' tokens and
// to update the Lease. The objects of each component: a ServiceAccount, a ClusterRole or Role for
// each of its grants, a binding of each non-external grant to the account that makes the
// component's requests (several if the manager watches several namespaces), and its fences.
// Switches add the rest. InvalidArgument if two objects would have the same name, or if the
// settings name unknown controllers.
absl::StatusOr<std::vector<ChartFile>> BuildChart(const std::vector<ComponentMandate>& components,
                                                  const ChartOptions& options);

}  // namespace mandate::rbacgen
