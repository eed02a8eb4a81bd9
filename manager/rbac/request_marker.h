// The marker that a component needs for a request.
#pragma once

#include <string>
#include <string_view>

#include "manager/rbac/rule.h"

namespace mandate::rbac {

// The marker that declares exactly these requests in the component's source:
// "// +kubebuilder:rbac:groups=core,resources=secrets,verbs=get,namespace=foo,resourceNames=bar".
// `verbs`, such as "list;watch", replace the request's own. Without the last two arguments the
// marker allows every namespace and name.
std::string MarkerFor(const Attributes& request, std::string_view verbs);

}  // namespace mandate::rbac
