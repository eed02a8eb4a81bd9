// Names and labels of what a ScopeTemplate and a ScopeInstance make.
//
// Names are functions of what they are for, so that a stale cache can lead to a write that changes
// nothing, never to a second object.
#ifndef CONTROLLERS_SCOPE_GENERATED_NAMES_H_
#define CONTROLLERS_SCOPE_GENERATED_NAMES_H_

#include <string>
#include <string_view>

namespace mandate::scope {

// Which template a ClusterRole was made for, and which instance a binding; by UID.
inline constexpr std::string_view kTemplateUidLabel = "operators.coreos.io/scopeTemplateUID";
inline constexpr std::string_view kInstanceUidLabel = "operators.coreos.io/scopeInstanceUID";
// The generateName that it was made from, or a hash of it where it is no legal label value.
inline constexpr std::string_view kGenerateNameLabel = "operators.coreos.io/generateName";

// All our ClusterRoles' names begin with it, and nobody else may make such names: so the fence of
// scope-instance has a list of what may be bound, in place of one of what may not.
inline constexpr std::string_view kClusterRolePrefix = "scope-template:";

// The prefix and `generate_name`; completed by a suffix of the template's UID when it ends in '-'.
std::string ClusterRoleName(std::string_view template_uid, std::string_view generate_name);

// The binding of `generate_name`'s role in `ns` (empty: in the cluster) for one instance.
std::string BindingName(std::string_view instance_uid, std::string_view generate_name,
                        std::string_view ns);

// Whether ClusterRoleName() makes `name` for some generateName that ends in '-'. A literal name is
// no function of the UID: for such a name the answer is no.
bool IsClusterRoleNameOf(std::string_view template_uid, std::string_view name);

// Whether BindingName() makes `name` in `ns` for some generateName.
bool IsBindingNameOf(std::string_view instance_uid, std::string_view name, std::string_view ns);

// What all binding names of one instance have in common, and few of another's do: a binding that
// has lost its owner and its labels is looked up by it.
std::string InstancePart(std::string_view instance_uid);
// The InstancePart() of the instance that the name may be made for; "": BindingName() does not make
// such a name.
std::string_view InstancePartOf(std::string_view binding_name);

// `generate_name` as a label value.
std::string GenerateNameLabelValue(std::string_view generate_name);

}  // namespace mandate::scope

#endif  // CONTROLLERS_SCOPE_GENERATED_NAMES_H_
