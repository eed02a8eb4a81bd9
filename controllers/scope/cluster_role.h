// The desired ClusterRoles of a ScopeTemplate, and their comparison with the server's.
#pragma once

#include <string>
#include <string_view>

#include "controllers/scope/kinds.h"
#include "controllers/scope/role_template.h"
#include "manager/object/kinds/rbac_v1.h"

namespace mandate::scope {

// The field manager of scope-template's writes: the component's name.
inline constexpr std::string_view kTemplateManager = "scope-template";

// The desired ClusterRole of `role` for its template, which must have nothing else.
rbacv1::ClusterRole DesiredClusterRole(const operatorsv1alpha1::ScopeTemplate& owner,
                                       const RoleTemplate& role);

// Why `actual` is not a role of the template with this UID: "its controller is Namespace "foo"".
// Empty if it is. A role is the template's if its name and its controller are; or, if another user
// removed the controller reference, its name and its label.
std::string WhyForeign(const rbacv1::ClusterRole& actual, std::string_view template_uid);

// The first difference of `actual` to `desired`, for messages: "rules", "aggregationRule", "label
// a/b", "owner reference". Empty if there is none. The labels must be exactly the desired ones, as
// a label can add the rules of a role to another role (aggregation).
std::string Difference(const rbacv1::ClusterRole& desired, const rbacv1::ClusterRole& actual);

// Whether `actual` may grant more than `desired`: by its rules, by aggregated rules, or by a label
// that adds it to another role. Conservative: false only if each rule equals a desired one, or is
// within the one at the same position.
bool GrantsMore(const rbacv1::ClusterRole& actual, const rbacv1::ClusterRole& desired);

// Whether the rules of `desired` may grant more than those of `actual`. Conservative: false only if
// each rule is within one of `actual`.
bool HasNewRules(const rbacv1::ClusterRole& desired, const rbacv1::ClusterRole& actual);

// `desired` with only the part of its rules that `actual` grants. Writing it grants nothing. Rules
// of `actual` that lose nothing are kept unchanged, so that a second call makes no other result.
rbacv1::ClusterRole WithoutNewRules(rbacv1::ClusterRole desired, const rbacv1::ClusterRole& actual);

}  // namespace mandate::scope
