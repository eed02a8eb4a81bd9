// The Kubernetes objects that give components, and the manager itself, their identities and grants.
#ifndef RBACGEN_CHART_OBJECTS_H_
#define RBACGEN_CHART_OBJECTS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "rbacgen/mandates.h"
#include "rbacgen/yaml.h"

namespace mandate::rbacgen {

struct ChartOptions {
  // What the names of all objects begin with: the manager's ServiceAccount, and its Lease.
  std::string base_name = "mandate-manager";
  // The label app.kubernetes.io/part-of.
  std::string part_of = "mandate";
  // The manager's namespace and the label app.kubernetes.io/managed-by: text, or a Helm action.
  Yaml ns;
  Yaml managed_by;
};

struct ChartObjects {
  std::vector<Yaml> always;
  // What lets the manager create missing ServiceAccounts; off unless asked for.
  std::vector<Yaml> to_create_service_accounts;
};

// For base: a ServiceAccount, its Lease, and a Role that mints the components' tokens and updates
// the Lease. For each component: a ServiceAccount, a ClusterRole or Role for each of its grants,
// and for all but the external ones a binding to exactly that ServiceAccount. InvalidArgument if
// two objects would have one name.
absl::StatusOr<ChartObjects> BuildChart(const std::vector<ComponentMandate>& components,
                                        const ChartOptions& options);

}  // namespace mandate::rbacgen

#endif  // RBACGEN_CHART_OBJECTS_H_
