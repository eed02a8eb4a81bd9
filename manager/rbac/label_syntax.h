// The syntax of label selectors (k8s.io/apimachinery pkg/labels), as far as telling whether the
// server can parse one: "app=x,tier in (a,b),!canary".
#ifndef MANAGER_RBAC_LABEL_SYNTAX_H_
#define MANAGER_RBAC_LABEL_SYNTAX_H_

#include <string_view>

namespace mandate::rbac {

bool IsLabelSelector(std::string_view selector);

}  // namespace mandate::rbac

#endif  // MANAGER_RBAC_LABEL_SYNTAX_H_
