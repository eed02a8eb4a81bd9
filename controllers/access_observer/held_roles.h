// What access-observer holds of roles and bindings.
//
// Who may write Roles and RoleBindings in a namespace may write large ones, and the observer
// watches those of all namespaces. So it holds only the place of each, and the role of a binding: a
// few hundred bytes. An object that cannot be decoded is held whole.
#pragma once

#include <memory>

#include "manager/object/kinds/rbac_v1.h"
#include "manager/object/metadata.h"
#include "manager/object/raw_object.h"
#include "manager/object/trimmed.h"

namespace mandate::access {

// Namespace, name, UID and version of an object that has metadata only.
std::shared_ptr<const RawObject> OnlyPlace(std::shared_ptr<const RawObject> object);
// The same of a RoleBinding, and its roleRef.
std::shared_ptr<const RawObject> OnlyRole(std::shared_ptr<const RawObject> binding);

using RolePlace = Trimmed<Metadata<rbacv1::Role>, OnlyPlace>;
using ClusterRolePlace = Trimmed<Metadata<rbacv1::ClusterRole>, OnlyPlace>;
using BoundRole = Trimmed<rbacv1::RoleBinding, OnlyRole>;

}  // namespace mandate::access
