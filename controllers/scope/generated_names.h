// Names and labels of the objects that a ScopeTemplate and a ScopeInstance generate.
//
// A name is a function of the object's purpose, so a stale cache can cause a write without a
// change, but never a second object.
#pragma once

#include <string>
#include <string_view>

namespace mandate::scope {

// The label of a ClusterRole with the UID of its template, and that of a binding with the UID of
// its instance.
inline constexpr std::string_view kTemplateUidLabel = "operators.coreos.io/scopeTemplateUID";
inline constexpr std::string_view kInstanceUidLabel = "operators.coreos.io/scopeInstanceUID";
// The label with the generateName, or with its hash if it is not a valid label value.
inline constexpr std::string_view kGenerateNameLabel = "operators.coreos.io/generateName";

// The prefix of the names of all our ClusterRoles. No other user can create such names, so the
// fence of scope-instance can list the roles that may be bound.
inline constexpr std::string_view kClusterRolePrefix = "scope-template:";

// The prefix, `generate_name`, and a hash of the template's UID. No other template, not even a
// later one of the same name, has a role of this name: what was bound to a role never binds another
// one.
std::string ClusterRoleName(std::string_view template_uid, std::string_view generate_name);

// The binding of `generate_name`'s role in `ns` (empty: in the cluster) for one instance.
std::string BindingName(std::string_view instance_uid, std::string_view generate_name,
                        std::string_view ns);

// Whether ClusterRoleName() makes `name` for some generateName.
bool IsClusterRoleNameOf(std::string_view template_uid, std::string_view name);

// Whether BindingName() makes `name` in `ns` for some generateName.
bool IsBindingNameOf(std::string_view instance_uid, std::string_view name, std::string_view ns);

// The part that all binding names of one instance share, and few of another instance have. It finds
// a binding that has lost its owner and its labels.
std::string InstancePart(std::string_view instance_uid);
// The InstancePart() in a binding's name; "" if BindingName() does not make such a name.
std::string_view InstancePartOf(std::string_view binding_name);

// `generate_name` as a label value.
std::string GenerateNameLabelValue(std::string_view generate_name);

}  // namespace mandate::scope
