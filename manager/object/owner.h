// The controller of an object: the owner reference that garbage collection and Owns<T> follow.
#pragma once

#include <string>
#include <string_view>

#include "k8s.io/apimachinery/pkg/apis/meta/v1/generated.pb.h"
#include "manager/object/kind.h"

namespace mandate {

// The reference with controller true (there is at most one); null without one.
inline const k8s::io::apimachinery::pkg::apis::meta::v1::OwnerReference* ControllerOf(
    const k8s::io::apimachinery::pkg::apis::meta::v1::ObjectMeta& metadata) {
  for (const auto& reference : metadata.ownerreferences()) {
    if (reference.controller()) return &reference;
  }
  return nullptr;
}

// By UID, as an owner may be deleted and made again under its name. False for an empty UID.
inline bool IsControlledBy(const k8s::io::apimachinery::pkg::apis::meta::v1::ObjectMeta& metadata,
                           std::string_view owner_uid) {
  const auto* reference = ControllerOf(metadata);
  return reference != nullptr && !owner_uid.empty() && reference->uid() == owner_uid;
}

// Makes `owner`, as it was read, the controller of `child`, which is built from nothing. The child
// goes when its owner is deleted, and a foreground deletion of the owner waits for it; that needs
// update on the owner's resource, subresource finalizers, where the API server runs
// OwnerReferencesPermissionEnforcement. The owner is cluster-scoped or in the child's namespace.
template <Object Owner, Object Child>
void SetControllerReference(const Owner& owner, Child* child) {
  constexpr KindInfo kind = KindOf<Owner>::value;
  auto& reference = *child->mutable_metadata()->add_ownerreferences();
  reference.set_apiversion(kind.ApiVersion());
  reference.set_kind(std::string(kind.kind));
  reference.set_name(owner.metadata().name());
  reference.set_uid(owner.metadata().uid());
  reference.set_controller(true);
  reference.set_blockownerdeletion(true);
}

}  // namespace mandate
