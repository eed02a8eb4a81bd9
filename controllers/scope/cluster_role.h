// The ClusterRoles of a ScopeTemplate: what they should be, and what the server has.
#ifndef CONTROLLERS_SCOPE_CLUSTER_ROLE_H_
#define CONTROLLERS_SCOPE_CLUSTER_ROLE_H_

#include <string>
#include <string_view>

#include "controllers/scope/kinds.h"
#include "controllers/scope/role_template.h"
#include "manager/object/kinds/rbac_v1.h"

namespace mandate::scope {

// The field manager of scope-template's writes: the component's name.
inline constexpr std::string_view kTemplateManager = "scope-template";

// The ClusterRole of `role` for its template: exactly what it should have.
rbacv1::ClusterRole DesiredClusterRole(const operatorsv1alpha1::ScopeTemplate& owner,
                                       const RoleTemplate& role);

// Why `actual` is not a role of the template with this UID: "its controller is Namespace "foo"".
// Empty: it is. A role is the template's when its name and its controller are; when somebody took
// the controller reference out, its name and its label.
//
// A literal name (one that is not completed by a suffix of the UID) proves nothing. Such a role is
// the template's only while it has our controller reference and both labels, and no other field
// manager has changed it: somebody else's `kubectl apply` makes it theirs.
std::string WhyForeign(const rbacv1::ClusterRole& actual, std::string_view template_uid);

// What of `actual` is not as `desired`, for messages: "rules", "aggregationRule", "label a/b",
// "owner reference"; the first one. Empty: all is. The labels must be exactly the desired ones, as
// a label can make a role part of another (aggregation).
std::string Difference(const rbacv1::ClusterRole& desired, const rbacv1::ClusterRole& actual);

// Whether `actual` may grant something that `desired` does not: by its rules, by those that it
// aggregates, or as a part of another role, by a label. False only where that is easily seen: each
// rule is among the desired ones, or within the one in its place.
bool GrantsMore(const rbacv1::ClusterRole& actual, const rbacv1::ClusterRole& desired);

// Whether the rules of `desired` may grant something that those of `actual` do not. False only
// where that is easily seen: each rule is within one of `actual`.
bool HasNewRules(const rbacv1::ClusterRole& desired, const rbacv1::ClusterRole& actual);

// `desired` with as much of its rules as those of `actual` grant already: what may be written
// without granting anything. Rules of `actual` of which nothing goes stay as they are, so that
// nothing is left to do once the result is written.
rbacv1::ClusterRole WithoutNewRules(rbacv1::ClusterRole desired, const rbacv1::ClusterRole& actual);

}  // namespace mandate::scope

#endif  // CONTROLLERS_SCOPE_CLUSTER_ROLE_H_
