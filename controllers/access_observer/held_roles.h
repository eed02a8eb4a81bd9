// What access-observer holds of roles and bindings.
//
// Who may write Roles and RoleBindings in a namespace may write large ones, and the observer
// watches those of all namespaces. So it holds only the place of each, and the role of a binding: a
// few hundred bytes. A name of more than 253 bytes, of which an API server accepts 450 KB, is held
// as its digest. An object that cannot be decoded is held whole.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "manager/object/kinds/rbac_v1.h"
#include "manager/object/metadata.h"
#include "manager/object/raw_object.h"
#include "manager/object/trimmed.h"

namespace mandate::access {

// The name as it is held. What is held already stays as it is, and is the name of no other object.
std::string HeldName(std::string_view name);

// Namespace, name, UID and version of an object that has metadata only.
std::shared_ptr<const RawObject> OnlyPlace(std::shared_ptr<const RawObject> object);
// The same of a RoleBinding, and its roleRef.
std::shared_ptr<const RawObject> OnlyRole(std::shared_ptr<const RawObject> binding);

using RolePlace = Trimmed<Metadata<rbacv1::Role>, OnlyPlace>;
using ClusterRolePlace = Trimmed<Metadata<rbacv1::ClusterRole>, OnlyPlace>;
using BoundRole = Trimmed<rbacv1::RoleBinding, OnlyRole>;

}  // namespace mandate::access
