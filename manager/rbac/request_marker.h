// The marker that a component lacks for a request.
#ifndef MANAGER_RBAC_REQUEST_MARKER_H_
#define MANAGER_RBAC_REQUEST_MARKER_H_

#include <string>
#include <string_view>

#include "manager/rbac/rule.h"

namespace mandate::rbac {

// What to write into the component's source for these requests to be declared, and no others:
// "// +kubebuilder:rbac:groups=core,resources=secrets,verbs=get,namespace=foo,resourceNames=bar".
// `verbs`, as "list;watch", stand in place of the request's own. Without the last two arguments it
// allows them of every namespace and name.
std::string MarkerFor(const Attributes& request, std::string_view verbs);

}  // namespace mandate::rbac

#endif  // MANAGER_RBAC_REQUEST_MARKER_H_
